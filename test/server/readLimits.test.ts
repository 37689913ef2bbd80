import { expect, test } from 'vitest'
import type { GivenLimits } from '../../server/engine.ts'
import { readLimits } from '../../server/readLimits.ts'

test('limits are read as people write them', () => {
  expect(readLimits({ maximumCostUsd: '0.10', maximumCalls: 3, maximumExamples: null })).toEqual({
    maximumCostUsd: '0.1',
    maximumCalls: 3,
    maximumExamples: null,
  })
  expect(readLimits({ maximumCostUsd: null })).toEqual({ maximumCostUsd: null })
  expect(readLimits({})).toEqual({})
})

test.each([
  [{ maximumCostUsd: '1e3' }, 'limit maximumCostUsd "1e3" must be US dollars such as "2.50"'],
  [{ maximumCostUsd: '-1' }, 'limit maximumCostUsd "-1" must be US dollars such as "2.50"'],
  [{ maximumCalls: 1.5 }, /^limit maximumCalls 1.5 /],
  [{ maximumCall: 1 }, 'limit maximumCall is not known: did you mean "maximumCalls"?'],
])('%j is refused', (limits, message) => {
  expect(() => readLimits(limits as GivenLimits)).toThrow(message)
})
