import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../../domain/errors.ts'
import type { JobSettings } from '../../../../server/defineJob.ts'
import { DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { inspectDocuments } from '../../../../server/jobs/dataset/inspectDocuments.ts'
import { stageLog, stored } from '../../../support/stageContext.ts'

type Content = string | Uint8Array
const mebibytes = (count: number) => count * 1_048_576
const bytesOf = (content: Content) => (typeof content === 'string' ? new TextEncoder().encode(content) : content)
const ref = (content: Uint8Array) => ({ sha256: 'a'.repeat(64), bytes: content.byteLength, mediaType: 'application/octet-stream' })
const given = (name: string, content: Content) => ({ file: { name, content: bytesOf(content) }, ref: ref(bytesOf(content)) })

const inspectAll = (files: ReturnType<typeof given>[], settings: Partial<JobSettings> = {}) =>
  inspectDocuments(files, { model: 'small', parameters: {}, target: null, ...settings })
const inspect = (files: Record<string, Content>, settings: Partial<JobSettings> = {}) =>
  inspectAll(Object.entries(files).map(([name, content]) => given(name, content)), settings)

const refusal = (work: () => unknown): InvalidInputError => {
  try {
    work()
  } catch (error) {
    if (error instanceof InvalidInputError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('documents as they are submitted', () => {
  test('become an input in the order of their names, each with its type by content', () => {
    const { input, calls } = inspect({
      'b.md': '# B',
      'a/z.html': '<!doctype html><p>Z',
      'B.txt': 'capital',
      'a/paper': '%PDF-1.7\n',
      'ä.txt': 'last',
    })
    expect(calls).toEqual([])
    expect(DatasetInput.parse(input)).toEqual(input)
    expect(input.documents.map(({ name, original }) => [name, original.mediaType])).toEqual([
      ['B.txt', 'text/plain'],
      ['a/paper', 'application/pdf'],
      ['a/z.html', 'text/html'],
      ['b.md', 'text/markdown'],
      ['ä.txt', 'text/plain'],
    ])
    expect(input.licenseFiles).toEqual([])
  })

  test('are known by their bytes alone, whatever order they are given in', () => {
    const content = bytesOf('Hello')
    const stores = stored(stageLog(), content)
    const one = { file: { name: 'a.txt', content }, ref: stores }
    const other = given('b.txt', 'World')
    expect(inspectAll([one, other])).toEqual(inspectAll([other, one]))
    expect(inspectAll([one]).input.documents[0]?.original).toEqual({ sha256: stores.sha256, bytes: 5, mediaType: 'text/plain' })
  })

  test.each(['LICENSE', 'license.md', 'docs/LICENCE.txt', 'a/b/Copying'])('are not their licence file: %s', (name) => {
    const { input } = inspect({ 'a.md': '# A', [name]: 'SPDX-License-Identifier: CC-BY-4.0' })
    expect(input.documents.map((each) => each.name)).toEqual(['a.md'])
    expect(input.licenseFiles).toEqual([{ name, sha256: 'a'.repeat(64), license: 'CC-BY-4.0' }])
  })

  test.each(['licenses.md', 'my-license.md', 'license.html', 'LICENSE/about.md'])('may have a name like that of a licence file: %s', (name) => {
    expect(inspect({ [name]: 'Text', 'a.md': '# A' }).input.documents.map((each) => each.name)).toContain(name)
  })

  test('may be licence files where nothing else is given', () => {
    const { input } = inspect({ LICENSE: 'MIT', COPYING: 'GPL' })
    expect(input.documents.map(({ name }) => name)).toEqual(['COPYING', 'LICENSE'])
    expect(input.licenseFiles).toEqual([])
  })

  test('may be as many as ten thousand', () => {
    const files = Array.from({ length: 10_000 }, (_, nth) => given(`${nth}.txt`, 'x'))
    expect(inspectAll(files).input.documents).toHaveLength(10_000)
  })
})

describe('a submission is refused', () => {
  test('without a document, saying which are taken', () => {
    expect(refusal(() => inspect({})).message).toBe(
      'a dataset has no document: give it md, txt, html, pdf or docx files, or a folder of them',
    )
  })

  test('without a model, naming the option', () => {
    expect(refusal(() => inspect({ 'a.md': '# A' }, { model: null })).message).toContain('--model')
  })

  test('for a parameter that is not known or breaks its rule, before anything else', () => {
    expect(refusal(() => inspect({}, { parameters: { licence: 'MIT' } })).message).toContain('did you mean "license"?')
    expect(refusal(() => inspect({}, { parameters: { privacy: 'hide' } })).details.path).toBe('parameters.privacy')
  })

  test('for two documents of one name', () => {
    const error = refusal(() => inspectAll([given('b.md', '1'), given('a.md', '2'), given('b.md', '3')]))
    expect(error.message).toBe('b.md is given twice: give the folder they lie in, so that each has a name of its own')
    expect(error.details).toEqual({ document: 'b.md', rule: 'unique_name' })
  })

  test.each(['', 'a\nb.md', 'a\0.md', '\uD800.md', `${'a'.repeat(1_000)}.md`])('for a name that is none: %j', (name) => {
    const error = refusal(() => inspectAll([given(name, 'x')]))
    expect(error.message).toContain('is no name of a document')
    expect(error.message.length).toBeLessThan(300)
  })

  test('for more than ten thousand documents, naming the first that is too many', () => {
    const files = Array.from({ length: 10_001 }, (_, nth) => given(`${String(nth).padStart(5, '0')}.txt`, 'x'))
    expect(refusal(() => inspectAll(files)).message).toBe(
      '10000.txt is one document too many: a dataset has at most 10000; submit them in parts',
    )
  })

  test('for a document of more than 32 MiB, and not for one of just that', () => {
    expect(() => inspect({ 'a.txt': new Uint8Array(mebibytes(32)).fill(120) })).not.toThrow()
    const error = refusal(() => inspect({ 'a.txt': new Uint8Array(mebibytes(32) + 1).fill(120) }))
    expect(error.message).toBe('a.txt has 33554433 bytes, more than the 33554432 that a document may have')
  })

  test('for documents of more than 1 GiB together', () => {
    const content = new Uint8Array(mebibytes(32)).fill(120)
    const files = Array.from({ length: 32 }, (_, nth) => given(`${nth}.txt`, content))
    const error = refusal(() => inspectAll([...files, given('a.txt', 'x')]))
    expect(error.message).toContain('a.txt brings the documents to more than the 1073741824 bytes')
  })

  test.each([
    ['empty', ''],
    ['an archive', 'PK\x05\x06'],
    ['no text', 'a\0\0b'],
  ])('for a document that is %s', (_, content) => {
    expect(refusal(() => inspect({ 'b.txt': 'x', 'a.txt': content })).details.document).toBe('a.txt')
  })

  test('for a licence file that says nothing, or is no text', () => {
    expect(refusal(() => inspect({ 'a.md': '# A', LICENSE: ' \n' })).message).toBe('LICENSE is empty: it names no licence')
    expect(refusal(() => inspect({ 'a.md': '# A', LICENSE: 'a\0\0b' })).details.document).toBe('LICENSE')
  })
})
