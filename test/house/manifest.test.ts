import { describe, expect, test } from 'vitest'
import { codeFiles, readText } from './repository.ts'
import { importsOf } from './syntax.ts'

type Manifest = {
  readonly license: string
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
type Lockfile = {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>
}

const manifest = JSON.parse(readText('package.json') ?? '') as Manifest
const lock = JSON.parse(readText('package-lock.json') ?? '') as Lockfile
const pins = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

describe('the manifest', () => {
  test.each(pins)('pins %s to one version, the one in the lockfile', (name, version) => {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version)
  })

  test('names in its dependencies every library that shipped code imports', () => {
    const imported = codeFiles()
      .filter((file) => !/^(test|server\/deploy)\//.test(file.path))
      .flatMap((file) => importsOf(file).map((found) => found.specifier ?? './computed'))
      .filter((specifier) => !/^(\.|node:)/.test(specifier))
    const missing = imported.filter(
      (specifier) =>
        !Object.keys(manifest.dependencies).some((name) => specifier === name || specifier.startsWith(`${name}/`)),
    )
    expect(missing).toEqual([])
  })

  test.each(['check', 'test', 'test:e2e', 'sim', 'demo', 'build', 'bench', 'lint', 'start'])(
    'offers npm run %s, which installs first what is missing',
    (name) => {
      const reachable = (script: string): string => {
        const before = manifest.scripts[`pre${script}`] ?? ''
        const [, next] = /npm run ([\w:]+)/.exec(before || (manifest.scripts[script] ?? '')) ?? []
        return next === undefined ? before : `${before} ${reachable(next)}`
      }
      expect(manifest.scripts[name]).toBeDefined()
      expect(reachable(name)).toContain('node test/support/install.mjs')
    },
  )
})

describe('the lockfile', () => {
  test('names no host, so that any registry serves it', () => {
    expect(readText('package-lock.json')).not.toMatch(/\.tgz\b/)
    expect(readText('package-lock.json')).not.toMatch(/"[r]esolved"/)
  })

  test('holds the hash of every package', () => {
    const unhashed = Object.entries(lock.packages).filter(
      ([path, { integrity }]) => path !== '' && integrity === undefined,
    )
    expect(unhashed.map(([path]) => path)).toEqual([])
  })
})

test('the licence is Apache-2.0, in full', () => {
  expect(manifest.license).toBe('Apache-2.0')
  expect(readText('LICENSE')).toContain('Apache License\n                           Version 2.0, January 2004')
  expect(readText('LICENSE')).toContain('APPENDIX: How to apply the Apache License to your work.')
})
