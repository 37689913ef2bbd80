import { describe, expect, test } from 'vitest'
import { textFiles, topLevel } from './repository.ts'
import { topLevelNames, untidy } from './tidyRules.ts'

/** What must not stand in this file in one piece either. */
const joined = (...pieces: readonly string[]): string => pieces.join('')

describe('the repository', () => {
  test('is tidy in every text file', () => {
    const files = textFiles()
    expect(files.length).toBeGreaterThan(20)
    expect(files.flatMap(untidy)).toEqual([])
  })

  test('has nothing at its top level but its rooms and what tools need there', () => {
    expect(topLevel().filter((name) => !topLevelNames.has(name))).toEqual([])
  })
})

describe('the rules of tidiness', () => {
  const lines = (count: number): string => 'export const x = 1\n'.repeat(count)

  test.each([
    ['domain/sample.ts', lines(351)],
    ['server/cli/index.ts', lines(1)],
    ['server/utils.ts', lines(1)],
    ['domain/helpers.ts', lines(1)],
    ['domain/types.ts', lines(1)],
    ['test/support/common.ts', lines(1)],
    ['domain/JobState.ts', lines(1)],
    ['domain/job-state.ts', lines(1)],
    ['domain/job_state.ts', lines(1)],
    ['domain/sample.ts', 'export const x = 1 \n'],
    ['domain/sample.ts', '\texport const x = 1\n'],
    ['domain/sample.ts', 'export const x = 1\r\n'],
    ['domain/sample.ts', 'export const x = 1'],
    ['domain/sample.ts', '// TODO later\n'],
    ['test/domain/sample.test.ts', '// FIXME\n'],
    ['README.md', 'XXX\n'],
    ['domain/sample.ts', '// @ts-ignore\nexport const x = 1\n'],
    ['test/domain/sample.test.ts', '// @ts-nocheck\nexport const x = 1\n'],
    ['domain/sample.ts', '// oxlint-disable-next-line no-console\n'],
    ['README.md', joined('see /', 'work/main/domain\n')],
    ['.ci/run', joined('cd /', 'root/x\n')],
    ['test/support/sample.ts', `export const at = '/home/somebody/x'\n`],
    ['package-lock.json', joined('"', 'resolved": "x"\n')],
    ['README.md', joined('https://registry', '.example.org/zod\n')],
    ['domain/sample.ts', 'export const x = y as string\n'],
    ['domain/sample.ts', 'export const x = <string>y\n'],
    ['domain/sample.ts', 'export const x = y!\n'],
    ['domain/sample.ts', 'export const x = [1].map((y) => y as any)\n'],
    ['server/web/sample.tsx', 'export const x = <p>{y as string}</p>\n'],
    ['test/domain/sample.test.ts', 'export const x = y as any\n'],
    ['test/domain/sample.test.ts', 'export const x = y as unknown as string\n'],
    ['test/domain/sample.test.ts', `test.only('x', () => {})\n`],
    ['test/domain/sample.test.ts', `test.skip('x', () => {})\n`],
    ['test/domain/sample.test.ts', `describe.skip('x', () => {})\n`],
    ['test/domain/sample.test.ts', `test.skipIf(true)('x', () => {})\n`],
    ['test/domain/sample.test.ts', `test.todo('x')\n`],
    ['test/contract/sampleContract.ts', `test('x', (context) => context.skip('why'))\n`],
    ['test/domain/sample.test.ts', `it.concurrent.skip('x', () => {})\n`],
    ['test/adapters/kurrent.container.test.ts', `test.only('x', () => {})\n`],
  ])('refuse %s: %j', (path, text) => {
    expect(untidy({ path, text })).not.toEqual([])
  })

  test.each([
    ['domain/sample.ts', lines(350)],
    ['domain/retryDelay.ts', lines(1)],
    ['test/domain/big.test.ts', lines(351)],
    ['test/e2e/limits.mjs', lines(1)],
    ['domain/sample.ts', 'export const x = [1] as const\n'],
    ['domain/sample.ts', 'export const x = y satisfies string\n'],
    ['domain/sample.ts', 'import { x as y } from "./x.ts"\nexport { y as z }\n'],
    ['test/domain/sample.test.ts', 'export const x = y as string\n'],
    ['test/adapters/kurrent.container.test.ts', `test.skipIf(noDocker)('x (skipped: no Docker)', () => {})\n`],
    ['server/worker/sample.ts', `rows.skip(1)\n`],
    ['server/telemetry.ts', `registry.counter('calls')\n`],
    ['README.md', 'the workers/ folder and /v1/jobs\n'],
  ])('allow %s: %j', (path, text) => {
    expect(untidy({ path, text })).toEqual([])
  })
})
