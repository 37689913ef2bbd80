import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { openaiTokens } from '../../../adapters/providers/openaiTokens.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'

const vocabularies = (): string[] =>
  Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('gpt-tokenizer'))

test('the vocabulary is loaded by the first count, not by the module', () => {
  openaiProvider({ baseUrl: 'http://127.0.0.1/v1', clock: systemClock() }).countTokens('llama-3.1', 'hello')
  expect(vocabularies()).toEqual([])
  openaiTokens('gpt-4o', 'hello')
  expect(vocabularies()).not.toEqual([])
})

describe('tokens of a text', () => {
  test.each([
    ['gpt-4o-mini', 'hello world', 2],
    ['gpt-4', 'hello world', 2],
    ['gpt-3.5-turbo-0125', '', 0],
    ['openai/gpt-4.1', 'hello world', 2],
    ['ft:gpt-4o:acme', 'hello world', 2],
    ['gpt-5.1', 'hello world', 2],
    ['o3', 'hello world', 2],
  ])('%s counts %j as %i', (model, text, tokens) => {
    expect(openaiTokens(model, text)).toBe(tokens)
  })

  test.each([
    'llama-3.1',
    'gpt-oss-20b',
    'gpt-4all',
    'gpt-2',
    'someone/gpt-4',
    'claude-x',
    'offline-small',
    'orca-2',
    '',
  ])('are not known for "%s"', (model) => expect(openaiTokens(model, 'hello')).toBeNull())

  test('that spell a special one are counted as text', () => {
    expect(openaiTokens('gpt-4o', '<|endoftext|>')).toBeGreaterThan(1)
  })

  test('of a run without a seam are counted in no time, as its bytes', () => {
    const runs = {
      emoji: '🔥'.repeat(50_000),
      letters: 'a'.repeat(50_000),
      rule: '='.repeat(50_000),
      space: ' '.repeat(50_000),
    }
    for (const run of Object.values(runs)) {
      expect(openaiTokens('gpt-4o', `Before. ${run} After.`)).toBeGreaterThanOrEqual(Buffer.byteLength(run))
    }
  })

  test('of many short words are not counted as bytes', () => {
    expect(openaiTokens('gpt-4o', 'The quick brown fox. '.repeat(1_000))).toBeLessThan(6_000)
  })
})
