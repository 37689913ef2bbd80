import { child, lineOf, walkSyntax, type Node } from './syntax.ts'
import type { SourceFile } from './repository.ts'

/** Names that reach for time, chance, identity or the host. They come in through ports instead. */
const hostNames = new Set([
  'process',
  'globalThis',
  'console',
  'performance',
  'crypto',
  'fetch',
  'Buffer',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'require',
])

const bannedMembers = new Set(['Date.now', 'Math.random'])

/** Places where an identifier is only a label, not a use of what has that name. */
const isLabel = (node: Node | null, key: string): boolean => {
  if (node === null) return false
  if (node.type === 'MemberExpression') return key === 'property' && node.computed !== true
  if (node.type === 'TSQualifiedName') return key === 'right'
  return key === 'key' && node.computed !== true
}

const isDateWithoutArguments = (node: Node): boolean => {
  if (child(node, 'callee')?.name !== 'Date') return false
  // `Date(x)` ignores what it is given and tells the time; `new Date(x)` only spells x.
  return node.type === 'CallExpression' || [node['arguments']].flat().length === 0
}

const impurity = (node: Node, parent: Node | null, key: string): string | null => {
  switch (node.type) {
    case 'AwaitExpression':
      return 'await'
    case 'ForOfStatement':
      return node['await'] === true ? 'for await' : null
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return node['async'] === true ? 'async' : null
    case 'NewExpression':
    case 'CallExpression':
      return isDateWithoutArguments(node) ? 'Date without a given instant' : null
    case 'MemberExpression': {
      const property = child(node, 'property')
      const name = `${child(node, 'object')?.name}.${property?.name ?? String(property?.value)}`
      return bannedMembers.has(name) ? name : null
    }
    case 'Identifier':
      return node.name !== undefined && hostNames.has(node.name) && !isLabel(parent, key) ? node.name : null
    case 'VariableDeclarator':
      return ['Date', 'Math'].includes(child(node, 'init')?.name ?? '')
        ? `another name for ${child(node, 'init')?.name}`
        : null
    default:
      return null
  }
}

const isPure = (path: string): boolean => path.startsWith('domain/') || path.startsWith('projections/')

/** Every use of time, chance or the host in a file that has to be a function of its arguments. */
export const purityBreaches = (file: SourceFile): readonly string[] => {
  if (!isPure(file.path)) return []
  const found: string[] = []
  walkSyntax(file, (node, parent, key) => {
    const impure = impurity(node, parent, key)
    if (impure !== null) found.push(`${file.path}:${lineOf(file, node.start)} is not pure: ${impure}`)
  })
  return found
}
