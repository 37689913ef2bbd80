import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openWorkplace } from '../../server/compose.ts'
import { runCli } from '../../server/cli/runCli.ts'
import type { TextOut } from '../../server/cli/shell.ts'
import { temporaryFolder } from '../contract/temporaryFolder.ts'
import { cliBench } from '../support/cliInProcess.ts'

const ann = ['token', 'create', '--name', 'ann', '--role', 'operate'] as const

describe('a token', () => {
  test('is shown once, alone on stdout, and lets its holder in', async () => {
    const bench = await cliBench()
    const { code, stdout, stderr } = await bench.run(...ann, '--project', 'red', '--project', 'blue')
    expect(code).toBe(0)
    const token = stdout.trimEnd()
    expect(await bench.workplace.access.check(token)).toEqual({ name: 'ann', role: 'operate', projects: ['red', 'blue'] })
    expect(stderr).toMatch(/^token ann \([0-9a-f]{16}\): operate for red, blue, until it is revoked\nKeep it now/)
    expect(stderr).not.toContain(token.slice(-43))
    for (const command of [['token', 'list'], ['token', 'list', '--json'], ['token', 'revoke', 'ann'], ['log', 'verify']]) {
      const told = await bench.run(...command)
      expect(told.stdout + told.stderr).not.toContain(token.slice(-43))
    }
  })

  test('stands with all that is known of it in one document with --json', async () => {
    const bench = await cliBench()
    const { document, stderr } = await bench.json(...ann, '--expires-at', '2100-01-01T00:00:00+01:00')
    const { token, ...listed } = document
    expect(listed).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'ann',
      role: 'operate',
      projects: null,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: '2099-12-31T23:00:00.000Z',
      revokedAt: null,
    })
    expect(await bench.workplace.access.check(String(token))).toEqual({ name: 'ann', role: 'operate', projects: null })
    expect(stderr).toBe('')
    expect((await bench.json('token', 'list')).document).toEqual({ items: [listed], nextCursor: null })
  })

  test('expires so many days from now', async () => {
    const bench = await cliBench()
    const before = Date.now()
    const { document } = await bench.json(...ann, '--expires-in', '30')
    const days = (Date.parse(String(document['expiresAt'])) - before) / 86_400_000
    expect(days).toBeGreaterThanOrEqual(30)
    expect(days).toBeLessThan(30.01)
  })

  test('is revoked by its name, by its id, or by its text, and again without effect', async () => {
    const bench = await cliBench()
    for (const handleOf of [() => 'ann', ({ id }: Made) => id, ({ token }: Made) => token]) {
      const { document } = await bench.json(...ann)
      const made: Made = { token: String(document['token']), id: String(document['id']) }
      expect(await bench.workplace.access.check(made.token)).not.toBeNull()
      const { code, stdout } = await bench.run('token', 'revoke', handleOf(made))
      expect([code, stdout]).toEqual([0, `token ann (${made.id}) lets nobody in any more\n`])
      expect(await bench.workplace.access.check(made.token)).toBeNull()
      expect((await bench.run('token', 'revoke', made.id)).code).toBe(0)
    }
  })

  test('that two would have the same name of is refused', async () => {
    const bench = await cliBench()
    await bench.run(...ann)
    const { code, stdout, stderr } = await bench.run(...ann)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^knovaryn: there is a token "ann" already \([0-9a-f]{16}\): revoke it, or choose another name\n/)
  })
})

type Made = { readonly token: string; readonly id: string }

test('tokens are listed as a table that says what became of each', async () => {
  const bench = await cliBench({ terminal: true })
  expect((await bench.run('token', 'list')).stdout).toBe('no tokens\n')
  await bench.run(...ann)
  await bench.run('token', 'revoke', 'ann')
  await bench.run('token', 'create', '--name', 'CI of red', '--role', 'read', '--project', 'red')
  const [heading, first, second] = (await bench.run('token', 'list')).stdout.split('\n')
  expect(heading).toMatch(/^ID +NAME +ROLE +PROJECTS +STATE/)
  expect(first).toMatch(/^[0-9a-f]{16} {2}ann +operate +all projects +revoked/)
  expect(second).toMatch(/^[0-9a-f]{16} {2}CI of red +read +red +valid/)
})

test('a store of tokens alone passes every check, and no file of it holds the secret of one', async () => {
  const folder = await temporaryFolder()
  const store = join(folder.path, 'store')
  const told: string[] = []
  const out = (): TextOut => ({ isTerminal: false, columns: 80, rows: 24, write: async (text) => ((told[0] = (told[0] ?? '') + text), true) })
  const run = async (...argv: string[]): Promise<{ code: number; text: string }> => {
    told[0] = ''
    const shell = { program: 'knovaryn', env: { KNOVARYN_STORE: `sqlite:${store}`, KNOVARYN_DEBUG: '1' }, stdout: out(), stderr: out(), onSignal: () => () => {}, exitNow: () => {} }
    const code = await runCli(argv, {
      version: '0.0.0',
      shell,
      open: (config, log) => openWorkplace(config, { env: {}, log }),
      connect: () => Promise.reject(new Error('there is no server')),
    })
    return { code, text: told[0] }
  }
  expect(await run('token', 'list')).toMatchObject({ code: 2, text: expect.stringContaining('there is no store') })
  expect(existsSync(store)).toBe(false)
  const made = await run(...ann)
  const secret = made.text.split('\n')[0]!.slice(-43)
  await run('token', 'create', '--name', 'bob', '--role', 'read')
  const texts: string[] = []
  for (const argv of [['token', 'revoke', 'ann'], ['log', 'verify'], ['projections', 'verify'], ['projections', 'rebuild'], ['projections', 'list'], ['job', 'list'], ['doctor']]) {
    const { code, text } = await run(...argv)
    expect([argv.join(' '), code]).toEqual([argv.join(' '), 0])
    texts.push(text)
  }
  expect(texts[1]).toContain('3 events')
  expect(texts[4]).not.toMatch(/ no /)
  expect(texts.join('')).not.toContain(secret)
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).map((name) => join(store, name)).filter((path) => statSync(path).isFile())
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) expect(readFileSync(file).includes(secret), file).toBe(false)
  await folder.remove()
})
