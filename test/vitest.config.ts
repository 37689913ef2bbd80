import { defineConfig } from 'vitest/config'

const fast = [
  'test/house/**/*.test.ts',
  'test/domain/**/*.test.ts',
  'test/projections/**/*.test.ts',
  'test/{adapters,contract}/**/memory*.test.ts',
  'test/adapters/memory/**/*.test.ts',
]
const realProcesses = ['test/e2e/**/*.test.ts']

/** Three speeds: `npm run check` runs fast, `npm test` fast and whole, `npm run test:e2e` e2e. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default'],
    projects: [
      { extends: true, test: { name: 'fast', include: fast } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: [...fast, ...realProcesses],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: realProcesses,
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
