import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { type LogLine, loggedTelemetry } from '../../../server/telemetry.ts'

test('a fault or a trouble that comes again and again is shown once for each spell, another one at once', () => {
  const lines: LogLine[] = []
  let now = 0
  const telemetry = loggedTelemetry((line) => void lines.push(line), () => now)
  for (now = 0; now < 60_000; now += 1_000) {
    telemetry.fault('looking for work', new Error('no such table'))
    telemetry.trouble('store', new StoreUnavailable('is locked'))
  }
  telemetry.fault('looking for work', new Error('another one'))
  expect(lines.map((line) => line.message)).toEqual([
    'fault: looking for work: no such table',
    'store: is locked; waiting for it',
    'fault: looking for work: another one',
  ])
  now += 30_000
  telemetry.fault('looking for work', new Error('no such table'))
  expect(lines).toHaveLength(4)
})
