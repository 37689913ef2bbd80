import { describe, expect, test } from 'vitest'
import { nearest } from '../../domain/nearest.ts'

const fields = ['id', 'prompt', 'messages', 'maxOutputTokens', 'temperature']

describe('the nearest name', () => {
  test.each([
    ['promt', 'prompt'],
    ['prmopt', 'prompt'],
    ['di', 'id'],
    ['PROMPT', 'prompt'],
    ['message', 'messages'],
    ['max_output_tokens', 'maxOutputTokens'],
    ['temprature', 'temperature'],
    ['ID', 'id'],
    ['prompt', 'prompt'],
  ])('of %s is %s', (word, meant) => {
    expect(nearest(word, fields)).toBe(meant)
  })

  test.each(['', 'xyzzy', 'content', 'constructor', 'p'.repeat(5_000_000)])(
    'of what resembles none is null',
    (word) => {
      expect(nearest(word, fields)).toBeNull()
    },
  )

  test('is null where there is nothing to choose from', () => {
    expect(nearest('prompt', [])).toBeNull()
  })

  test('is the closest of several, and of equally close ones the first', () => {
    expect(nearest('resum', ['result', 'resume'])).toBe('resume')
    expect(nearest('cat', ['bat', 'car'])).toBe('bat')
  })
})
