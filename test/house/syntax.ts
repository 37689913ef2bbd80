import { parseSync, visitorKeys } from 'oxc-parser'
import type { SourceFile } from './repository.ts'

/** A node of the syntax tree, with as much of its shape as the rules ask about. */
export type Node = {
  readonly type: string
  readonly start: number
  readonly name?: string
  readonly value?: unknown
  readonly computed?: boolean
  readonly [key: string]: unknown
}

export type Visit = (node: Node, parent: Node | null, key: string) => void

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

const descend = (node: Node, parent: Node | null, at: string, visit: Visit): void => {
  visit(node, parent, at)
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [node[key]].flat()) if (isNode(child)) descend(child, node, key, visit)
  }
}

/** Calls `visit` for every node of the file. Raises for a file that does not parse. */
export const walkSyntax = (file: SourceFile, visit: Visit): void => {
  const { program, errors } = parseSync(file.path, file.text, { sourceType: 'module' })
  if (errors[0] !== undefined) throw new SyntaxError(`${file.path}: ${errors[0].message}`)
  descend(program as unknown as Node, null, '', visit)
}

export const lineOf = (file: SourceFile, offset: number): number => file.text.slice(0, offset).split('\n').length

export const child = (node: Node, key: string): Node | null => {
  const value = node[key]
  return isNode(value) ? value : null
}

/** What the file imports, in every way TypeScript knows. `specifier` is null where it is computed. */
export type Import = { readonly specifier: string | null; readonly line: number }

export const importsOf = (file: SourceFile): readonly Import[] => {
  const found: Import[] = []
  const add = (source: Node | null, offset: number): void => {
    const specifier = typeof source?.value === 'string' ? source.value : null
    found.push({ specifier, line: lineOf(file, offset) })
  }
  walkSyntax(file, (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ImportExpression':
      case 'TSImportType':
        return add(child(node, 'source'), node.start)
      case 'ExportNamedDeclaration':
        return child(node, 'source') === null ? undefined : add(child(node, 'source'), node.start)
      case 'TSExternalModuleReference':
        return add(child(node, 'expression'), node.start)
      case 'CallExpression':
        if (child(node, 'callee')?.name !== 'require') return undefined
        return add([node['arguments']].flat().find(isNode) ?? null, node.start)
      default:
        return undefined
    }
  })
  return found
}
