// Makes any npm script work as the first command on a fresh clone. No dependencies: it runs before there are any.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
const packagesOf = (lockfile) => JSON.parse(readFileSync(new URL(lockfile, root), 'utf8')).packages

// Compared by content: a file's time says nothing after a checkout or a copy.
const installed = () => {
  try {
    const present = packagesOf('node_modules/.package-lock.json')
    return Object.entries(packagesOf('package-lock.json')).every(
      ([path, wanted]) =>
        path === '' ||
        (present[path] === undefined ? wanted.optional === true : present[path].integrity === wanted.integrity),
    )
  } catch {
    return false
  }
}

if (!installed()) {
  // Everything goes to stderr, so that `npm run -s demo -- --json` still prints one document.
  const { status } = spawnSync('npm', ['ci', '--loglevel=warn'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  process.exit(status ?? 1)
}
