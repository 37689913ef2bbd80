import { posix } from 'node:path'
import { importsOf } from './syntax.ts'
import type { SourceFile } from './repository.ts'

/** What the files of one room may import. Nothing else is allowed. */
type Row = {
  /** A room (`domain/`), one file, or `adapters/*\/`: each folder under it is a room of its own. */
  readonly room: string
  /** Rooms and files of the repository, beside the room itself. */
  readonly rooms: readonly string[]
  readonly libraries: readonly string[]
  readonly node: boolean
  /** Whether a module's name may be computed (jobs that a user brings along). */
  readonly computed?: boolean
}

const serverLibraries = [
  'zod',
  '@opentelemetry/api',
  'prom-client',
  'unpdf',
  'mammoth',
  'htmlparser2',
  'gpt-tokenizer',
  'libphonenumber-js',
  'mdast-util-from-markdown',
  'mdast-util-gfm-table',
  'micromark-extension-gfm-table',
  'minhash',
  'spdx-expression-parse',
  'validator',
  'yaml',
  'yauzl',
]

/** The first row that fits a file is its row. The table is that of the README. */
const table: readonly Row[] = [
  { room: 'domain/', rooms: [], libraries: ['zod', 'immer', 'canonicalize'], node: false },
  { room: 'projections/', rooms: ['domain/'], libraries: ['zod'], node: false },
  { room: 'adapters/sqlite/', rooms: ['domain/'], libraries: ['better-sqlite3'], node: true },
  { room: 'adapters/eventstoredb/', rooms: ['domain/'], libraries: ['@eventstore/db-client'], node: true },
  { room: 'adapters/s3/', rooms: ['domain/'], libraries: ['aws4fetch'], node: true },
  {
    room: 'adapters/providers/',
    rooms: ['domain/'],
    libraries: ['zod', 'gpt-tokenizer', 'eventsource-parser'],
    node: true,
  },
  { room: 'adapters/*/', rooms: ['domain/'], libraries: [], node: true },
  {
    room: 'server/compose.ts',
    rooms: ['server/', 'projections/', 'domain/', 'adapters/'],
    libraries: serverLibraries,
    node: true,
  },
  {
    room: 'server/http/',
    rooms: ['server/engine.ts', 'server/access.ts', 'server/client/', 'domain/'],
    libraries: [
      'zod',
      'fastify',
      'fastify-type-provider-zod',
      '@fastify/websocket',
      '@fastify/swagger',
      '@fastify/static',
      '@fastify/helmet',
      '@fastify/rate-limit',
    ],
    node: true,
  },
  {
    room: 'server/mcp/',
    rooms: ['server/engine.ts', 'server/client/', 'server/http/requestIssue.ts', 'domain/'],
    libraries: ['zod', '@modelcontextprotocol/sdk'],
    node: true,
  },
  {
    room: 'server/cli/',
    rooms: ['server/engine.ts', 'server/access.ts', 'server/config.ts', 'server/defineJob.ts', 'server/client/', 'domain/'],
    libraries: ['zod', 'commander'],
    node: true,
  },
  { room: 'server/client/', rooms: ['domain/'], libraries: ['zod', 'ws'], node: false },
  {
    room: 'server/web/',
    rooms: ['server/client/', 'projections/', 'domain/'],
    libraries: ['preact', 'uplot'],
    node: false,
  },
  // Builds and deploys the program, and is no part of it.
  { room: 'server/deploy/', rooms: [], libraries: ['rolldown'], node: true },
  { room: 'server/', rooms: ['projections/', 'domain/'], libraries: serverLibraries, node: true, computed: true },
]

/** Libraries that one file alone may name, so that each can be swapped in one place. */
export const homes: Readonly<Record<string, string>> = {
  immer: 'domain/evolving.ts',
  canonicalize: 'domain/canonical.ts',
  'better-sqlite3': 'adapters/sqlite/openDatabase.ts',
  ws: 'server/client/connectSocket.ts',
}

const contains = (room: string, path: string): boolean => (room.endsWith('/') ? path.startsWith(room) : path === room)

/** The room that the file is in, as the row means it: `adapters/*\/` stands for the one folder. */
const roomOf = (row: Row, path: string): string | null => {
  if (!row.room.endsWith('*/')) return contains(row.room, path) ? row.room : null
  const [, room = null] = /^([^/]+\/[^/]+\/)./.exec(path) ?? []
  return room !== null && room.startsWith(row.room.slice(0, -2)) ? room : null
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const refusal = (row: Row, room: string, path: string, specifier: string | null): string | null => {
  if (specifier === null) return row.computed === true ? null : 'a computed module name'
  if (specifier.startsWith('node:')) return row.node ? null : specifier
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier)
    return [room, ...row.rooms].some((allowed) => contains(allowed, target)) ? null : target
  }
  const library = packageOf(specifier)
  if (!row.libraries.includes(library)) return specifier
  return homes[library] === undefined || homes[library] === path ? null : `${specifier} (only ${homes[library]} may)`
}

/** Every import of the file that the table does not allow, as a sentence. */
export const importBreaches = (file: SourceFile): readonly string[] => {
  if (/^(test|\.ci)\//.test(file.path)) return []
  const found = table.map((row) => ({ row, room: roomOf(row, file.path) })).find((candidate) => candidate.room !== null)
  if (found === undefined || found.room === null) return [`${file.path} is in no room`]
  const { row, room } = found
  return importsOf(file).flatMap(({ specifier, line }) => {
    const refused = refusal(row, room, file.path, specifier)
    return refused === null ? [] : [`${file.path}:${line} may not import ${refused}`]
  })
}
