// Joins the compiled program and library into few files, in place: loading some three hundred small modules takes
// longer than `job status` may. Both come out of one build, so that they share every class and constant.
import { rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

const server = new URL('../../dist/server/', import.meta.url).pathname
// Parts of an earlier build are named by their content, and would stay for ever.
rmSync(`${server}parts`, { recursive: true, force: true })
const build = await rolldown({
  input: { main: `${server}main.js`, library: `${server}library.js` },
  platform: 'node',
  // Native, and large vocabularies that only some models need.
  external: ['better-sqlite3', /^gpt-tokenizer/],
  logLevel: 'warn',
})
await build.write({ dir: server, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' })
await build.close()
