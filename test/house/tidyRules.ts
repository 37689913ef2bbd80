import { child, lineOf, walkSyntax, type Node } from './syntax.ts'
import type { SourceFile } from './repository.ts'

type Rule = (file: SourceFile) => readonly string[]

const rooms = /^(domain|projections|adapters|server)\//
const code = /\.(ts|tsx|mjs)$/

export const topLevelNames: ReadonlySet<string> = new Set([
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  '.npmrc',
  '.gitignore',
  '.oxlintrc.json',
  '.ci',
  'domain',
  'projections',
  'adapters',
  'server',
  'test',
])

const linesMax = 350
const emptyNames = /^(index|utils?|helpers?|common|types|misc|base|stuff)$/
const codeName = /^[a-z][A-Za-z0-9]*(\.(test|contract|container|config|d))*\.(ts|tsx|mjs)$/

const size: Rule = ({ path, text }) => {
  const lines = text.replace(/\n$/, '').split('\n').length
  return rooms.test(path) && code.test(path) && lines > linesMax
    ? [`${path} has ${lines} lines, more than ${linesMax}: it holds more than one concept`]
    : []
}

const naming: Rule = ({ path }) => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (!code.test(name)) return []
  if (emptyNames.test(name.slice(0, name.indexOf('.')))) return [`${path} has a name that says nothing`]
  return codeName.test(name) ? [] : [`${path} is not named in camelCase`]
}

const whitespace: Rule = ({ path, text }) => {
  const found = text
    .split('\n')
    .flatMap((line, at) => (/\t|[ \r]$/.test(line) ? [`${path}:${at + 1} has a tab or ends in a space`] : []))
  return text === '' || text.endsWith('\n') ? found : [...found, `${path} does not end its last line`]
}

/** Words that have no place in a finished file, each with the reason that is printed. */
const words: readonly (readonly [RegExp, string])[] = [
  [/\b(TODO|FIXME|XXX)\b/, 'leaves something to do'],
  [/@ts-(ignore|nocheck)|(eslint|oxlint)-disable/, 'silences the checker'],
  [/(^|[^\w.])\/(work|root|home\/\w+|Users\/\w+)\//, 'names a path of one machine'],
  [/\bregistry\.[\w.-]+\.(org|com|net|io|dev|local|internal)\b|"[r]esolved":/, 'names a package registry'],
]

const wording: Rule = ({ path, text }) =>
  path.startsWith('test/house/') // The rules and their samples have to spell out what they refuse.
    ? []
    : text
        .split('\n')
        .flatMap((line, at) => words.flatMap(([word, why]) => (word.test(line) ? [`${path}:${at + 1} ${why}`] : [])))

const castIn = (node: Node): string | null => {
  if (node.type === 'TSNonNullExpression') return 'casts null away'
  if (node.type === 'TSTypeAssertion') return 'casts'
  if (node.type !== 'TSAsExpression') return null
  const type = child(node, 'typeAnnotation')
  return type?.type === 'TSTypeReference' && child(type, 'typeName')?.name === 'const' ? null : 'casts'
}

const anyOrUnknownCast = (node: Node): string | null => {
  if (node.type !== 'TSAsExpression') return null
  const type = child(node, 'typeAnnotation')?.type
  if (type === 'TSAnyKeyword') return 'casts to any'
  const inner = child(node, 'expression')
  return inner?.type === 'TSAsExpression' && child(inner, 'typeAnnotation')?.type === 'TSUnknownKeyword'
    ? 'casts through unknown'
    : null
}

/** The first name of `test.each(x).skip`: what the whole chain hangs on. */
const rootName = (node: Node | null): string | undefined =>
  node === null ? undefined : (node.name ?? rootName(child(node, 'object') ?? child(node, 'callee')))

const testNames = new Set(['test', 'it', 'describe', 'suite', 'bench', 'context', 'ctx'])

const focusOrSkip = (node: Node): string | null => {
  const property = child(node, 'property')?.name ?? ''
  if (node.type !== 'MemberExpression' || !testNames.has(rootName(child(node, 'object')) ?? '')) return null
  if (property === 'only') return 'runs only a part of the tests'
  return ['skip', 'skipIf', 'runIf', 'todo', 'fails'].includes(property) ? 'skips a test' : null
}

/** What the syntax tree shows: casts, and tests that do not run. */
const syntax: Rule = (file) => {
  const { path } = file
  if (!code.test(path)) return []
  const found: string[] = []
  // Only what is written for Docker or a browser may be skipped where there is none.
  const maySkip = /\bcontainer|\bbrowser/i.test(path)
  walkSyntax(file, (node) => {
    const report = (breach: string | null): void => {
      if (breach !== null) found.push(`${path}:${lineOf(file, node.start)} ${breach}`)
    }
    if (rooms.test(path)) report(castIn(node))
    // A syntax tree from another library has a type of its own: the house's one seam.
    else if (path !== 'test/house/syntax.ts') report(anyOrUnknownCast(node))
    const unrun = path.startsWith('test/') ? focusOrSkip(node) : null
    report(unrun === 'skips a test' && maySkip ? null : unrun)
  })
  return found
}

const rules: readonly Rule[] = [size, naming, whitespace, wording, syntax]

/** Everything about the file that is not tidy, as sentences. */
export const untidy = (file: SourceFile): readonly string[] => rules.flatMap((rule) => rule(file))
