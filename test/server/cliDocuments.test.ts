import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { readDocuments } from '../../server/cli/readDocuments.ts'
import { defineJob } from '../../server/defineJob.ts'
import { cliBench } from '../support/cliInProcess.ts'

const folderWith = (...names: readonly string[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'knovaryn-documents-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), name)
  }
  return folder
}
const namesOf = async (...paths: readonly string[]) => (await readDocuments(paths)).map(({ name }) => name)

describe('documents named on the command line', () => {
  test('are all files of a folder, by their names from there, in one order everywhere', async () => {
    expect(await namesOf(folderWith('b.md', 'a/z.txt', 'a/A.txt', 'B.md'))).toEqual(['B.md', 'a/A.txt', 'a/z.txt', 'b.md'])
  })

  test('keep their bytes', async () => {
    const [file] = await readDocuments([folderWith('b.md')])
    expect(Buffer.from(file!.content).toString()).toBe('b.md')
  })

  test('of several folders are told apart by the folder', async () => {
    const [one, other] = [folderWith('one/README.md'), folderWith('other/README.md')]
    expect(await namesOf(join(one, 'one'), `${join(other, 'other')}/`)).toEqual(['one/README.md', 'other/README.md'])
  })

  test('named one by one have their own names', async () => {
    const folder = folderWith('x/b.md', 'a.md')
    expect(await namesOf(join(folder, 'x/b.md'), join(folder, 'a.md'))).toEqual(['b.md', 'a.md'])
  })

  test('pass over what is hidden', async () => {
    expect(await namesOf(folderWith('.git/config', '.DS_Store', 'a.md'))).toEqual(['a.md'])
  })

  test('may be ten thousand', async () => {
    const names = Array.from({ length: 10_000 }, (_, nth) => `${nth % 100}/${nth}.md`)
    expect(await namesOf(folderWith(...names))).toHaveLength(10_000)
  })

  const link = (name: string, to: string) => {
    const folder = folderWith('a.md', 'inside/b.md')
    symlinkSync(join(folder, to), join(folder, name))
    return folder
  }
  test.each([
    ['a link to a file', () => link('link.md', 'a.md'), /link\.md: it is a symbolic link: name what it leads to/],
    ['a link to a folder', () => link('link', 'inside'), /link: it is a symbolic link/],
    ['a link that is named itself', () => join(link('link.md', 'a.md'), 'link.md'), /link\.md: it is a symbolic link/],
    ['a folder without a file', () => folderWith(), /the folder holds no file/],
    ['a folder that holds hidden files alone', () => folderWith('.hidden'), /the folder holds no file/],
    ['what is not there', () => join(folderWith(), 'x.md'), /x\.md: there is no such file/],
  ])('are not %s', async (_, path, message) => {
    await expect(readDocuments([path()])).rejects.toThrow(message)
  })

  test('are not over 32 MiB', async () => {
    const folder = folderWith('large.txt')
    truncateSync(join(folder, 'large.txt'), 32 * 1_048_576 + 1)
    await expect(readDocuments([folder])).rejects.toThrow(/large\.txt: it is larger than 33554432 bytes/)
  })
})

describe('a job type of one’s own', () => {
  const Input = z.strictObject({ words: z.array(z.string()) })
  const count = defineJob({
    type: 'count',
    version: 1,
    input: Input,
    stages: [{ name: 'count', run: async ({ input, parameters }) => ({ words: input.words.length, parameters }) }],
  })
  const bench = () => cliBench({ definitions: [count] })

  test('takes a value from a file, and parameters as JSON or as they stand', async () => {
    const cli = await bench()
    const input = cli.file('input.json', '{ "words": ["a", "b"] }')
    const { code, document } = await cli.json('run', '--type', 'count', '--input', input, '--set', 'deep={"a":[1]}', '--set', 'name=1 a')
    expect(code).toBe(0)
    expect(document).toMatchObject({ output: { json: { words: 2, parameters: { deep: { a: [1] }, name: '1 a' } } } })
  })

  test.each([
    ['a value that breaks its schema', '{ "words": [1] }', [], 'invalid_input', /input\.words\.0 of job type "count"/],
    ['a value that is not JSON', '{ words }', [], 'invalid_input', /input\.json: not JSON/],
    ['a parameter given twice', '{ "words": [] }', ['--set', 'a=1', '--set', 'a=2'], 'invalid_option', /parameter "a" is given twice/],
    ['a parameter without a value', '{ "words": [] }', ['--set', 'a'], 'invalid_option', /--set must be name=value/],
  ])('refuses %s', async (_, content, more, code, message) => {
    const cli = await bench()
    const refused = await cli.json('run', '--type', 'count', '--input', cli.file('input.json', content), ...more)
    expect(refused).toMatchObject({ code: 2, document: { error: { code, message: expect.stringMatching(message) } } })
    expect((await cli.engine.list({})).items).toEqual([])
  })

  test('refuses files beside a value, and a value where the type takes files', async () => {
    const cli = await bench()
    const input = cli.file('input.json', '{ "words": [] }')
    expect((await cli.json('run', input, '--type', 'count', '--input', input)).document.error.message).toMatch(/files or --input, not both/)
    const batch = ['run', '--provider', 'offline', '--model', 'offline-small', '--input', input]
    expect((await cli.json(...batch)).document.error.message).toMatch(/job type "batch" takes files, and was given a value/)
  })
})
