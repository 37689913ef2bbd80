import { describe, expect, test } from 'vitest'
import { shareIn, termsOf } from '../../../../../server/jobs/dataset/sift/terms.ts'

const share = (one: string, other: string): number => shareIn(termsOf(one), termsOf(other))

describe('the terms of a text', () => {
  test.each([
    ['inflected', 'Gates were opened; boxes and tides.', 'The opening gate, a box, one tide.'],
    ['in capitals', 'HARBOUR', 'harbours'],
    ['without its accents', 'Les maree hautes', 'les marées hautes'],
    ['composed otherwise', 'cafe\u0301', 'café'],
    ['in German', 'Die Häfen öffnen Tore', 'Ein Hafen öffnet das Tor'],
    ['in a script without spaces', '水門は開く', '港の水門は開くだろう'],
  ])('are found in one that has them %s', (_, one, other) => {
    expect(share(one, other)).toBe(1)
  })

  test('are not its small words', () => {
    expect(termsOf('What is it, and why was that so? Was ist das? Qu’est-ce que c’est ? ¿Qué es esto?').size).toBe(0)
    expect(share('', 'nothing')).toBe(1)
  })

  test('count by how many another text has', () => {
    expect(share('harbour gate', 'the harbour')).toBe(0.5)
    expect(share('水門', '港です')).toBe(0)
    expect(share('gate 7', 'gate 8')).toBe(0.5)
  })
})
