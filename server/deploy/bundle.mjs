// Joins the compiled program and library into few files, in place: loading some three hundred small modules takes
// longer than `job status` may. Both come out of one build, so that they share every class and constant.
import { cpSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

const server = new URL('../../dist/server/', import.meta.url).pathname
// Parts of an earlier build are named by their content, and would stay for ever.
rmSync(`${server}parts`, { recursive: true, force: true })
const build = await rolldown({
  input: {
    main: `${server}main.js`,
    library: `${server}library.js`,
    // Among the parts, beside the one that starts it as a thread.
    'parts/parseWorker': `${server}jobs/dataset/documents/parseWorker.js`,
  },
  platform: 'node',
  // Native, and large vocabularies that only some models need.
  external: ['better-sqlite3', /^gpt-tokenizer/],
  logLevel: 'warn',
})
await build.write({ dir: server, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' })
await build.close()
// What is read as it is.
cpSync(new URL('../cli/demo/documents', import.meta.url).pathname, `${server}cli/demo/documents`, { recursive: true })
