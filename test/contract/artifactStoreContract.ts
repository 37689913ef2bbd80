import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../adapters/system/sha256.ts'
import { ArtifactCorrupt } from '../../domain/errors.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'

export type OpenArtifactStore = () => Promise<{
  readonly store: ArtifactStore
  readonly close: () => Promise<void>
}>

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** What every artifact store promises. */
export const artifactStoreContract = (name: string, open: OpenArtifactStore): void => {
  describe(`${name} as an artifact store`, () => {
    let opened: Awaited<ReturnType<OpenArtifactStore>>
    let store: ArtifactStore
    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    test('names bytes by their SHA-256 and gives them back', async () => {
      const content = bytes('some text')
      expect(await store.put('default', content)).toEqual({ sha256: sha256(content), bytes: 9 })
      expect(await store.get('default', sha256(content))).toEqual(content)
      expect(await store.has('default', sha256(content))).toBe(true)
    })

    test('takes nothing at all, and every byte there is', async () => {
      for (const content of [new Uint8Array(0), Uint8Array.from({ length: 256 }, (_, index) => index)]) {
        const { sha256: stored } = await store.put('default', content)
        expect(await store.get('default', stored)).toEqual(content)
      }
    })

    test('takes several megabytes', async () => {
      const content = new Uint8Array(5_000_000).map((_, index) => index % 251)
      const { sha256: stored } = await store.put('default', content)
      expect(Buffer.from((await store.get('default', stored))!).equals(content)).toBe(true)
    })

    test('takes the same bytes again as a success', async () => {
      const first = await store.put('default', bytes('same'))
      expect(await store.put('default', bytes('same'))).toEqual(first)
      expect(await store.list('default')).toEqual([first])
    })

    test('takes the same bytes many times at once', async () => {
      const content = bytes('same')
      const names = await Promise.all(Array.from({ length: 20 }, () => store.put('default', content)))
      expect(new Set(names.map((each) => each.sha256))).toEqual(new Set([sha256(content)]))
      expect(await store.get('default', sha256(content))).toEqual(content)
    })

    test('keeps its own copy of what it was given and what it gave', async () => {
      const content = bytes('original')
      const { sha256: stored } = await store.put('default', content)
      content.fill(0)
      ;(await store.get('default', stored))?.fill(1)
      expect(await store.get('default', stored)).toEqual(bytes('original'))
    })

    test('knows nothing by a name that was never given out', async () => {
      expect(await store.get('default', sha256('unknown'))).toBeNull()
      expect(await store.has('default', sha256('unknown'))).toBe(false)
      expect(await store.list('default')).toEqual([])
    })

    test.each([
      '', '..', '../../etc/passwd', '%2e%2e%2fpasswd', '..\\..\\windows', '/etc/passwd', 'file:///etc/passwd', 'C:\\x',
      'a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), 'g'.repeat(64), `${'a'.repeat(63)}\u0000`, `${'a'.repeat(64)}\n`,
      'a'.repeat(5000), `${'a'.repeat(62)}/x`, '#', '?',
    ])('knows nothing by what is no hash: %j', async (hash) => {
      await store.put('default', bytes('something'))
      expect(await store.get('default', hash)).toBeNull()
      expect(await store.has('default', hash)).toBe(false)
    })

    test('does not know the hash of one project in another', async () => {
      const { sha256: stored } = await store.put('one', bytes('secret'))
      expect(await store.get('two', stored)).toBeNull()
      expect(await store.has('two', stored)).toBe(false)
      expect(await store.list('two')).toEqual([])
    })

    test('keeps projects apart whatever their ids look like', async () => {
      const ids = [
        'a', 'A', '', '.', '..', '../a', 'a/..', 'a/b', 'a%2Fb', 'a\\b', '/a', 'ä', 'a\u0308', 'con', 'a ', ' a', 'a.',
        '*', '%', 'a\u0000', '\u{1F600}', 'x'.repeat(300), `${'x'.repeat(300)}y`,
      ]
      for (const id of ids) await store.put(id, bytes(`content of ${id}`))
      for (const id of ids) {
        const content = bytes(`content of ${id}`)
        expect(await store.list(id)).toEqual([{ sha256: sha256(content), bytes: content.byteLength }])
        expect(await store.get(id, sha256(content))).toEqual(content)
      }
    })

    test('lists names in order of hash, in pages behind a hash', async () => {
      const names = await Promise.all(Array.from({ length: 30 }, (_, index) => store.put('default', bytes(`${index}`))))
      const ordered = names.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
      expect(await store.list('default')).toEqual(ordered)
      const first = await store.list('default', { limit: 7 })
      expect(first).toEqual(ordered.slice(0, 7))
      expect(await store.list('default', { after: first.at(-1)!.sha256, limit: 100 })).toEqual(ordered.slice(7))
      expect(await store.list('default', { after: ordered.at(-1)!.sha256 })).toEqual([])
    })
  })
}

export type OpenDamageableArtifactStore = () => Promise<{
  readonly store: ArtifactStore
  /** Replaces what is stored under that name. */
  readonly damage: (projectId: string, sha256: string, content: Uint8Array) => Promise<void>
  readonly close: () => Promise<void>
}>

/** What an artifact store promises whose bytes somebody can get at. */
export const damagedArtifactContract = (name: string, open: OpenDamageableArtifactStore): void => {
  describe(`${name} with a damaged artifact`, () => {
    let opened: Awaited<ReturnType<OpenDamageableArtifactStore>>
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    test.each<readonly [string, (content: Uint8Array) => Uint8Array]>([
      ['cut to half', (content) => content.slice(0, content.length / 2)],
      ['emptied', () => new Uint8Array(0)],
      ['changed in one bit', (content) => content.map((byte, index) => (index === 3 ? byte ^ 1 : byte))],
      ['made longer', (content) => Uint8Array.from([...content, 0])],
    ])('raises ArtifactCorrupt for bytes that were %s, and takes the right ones again', async (_, harm) => {
      const content = bytes('long enough to be damaged')
      const { sha256: stored } = await opened.store.put('default', content)
      await opened.damage('default', stored, harm(content))
      const error: unknown = await opened.store.get('default', stored).catch((raised: unknown) => raised)
      expect(error).toBeInstanceOf(ArtifactCorrupt)
      expect(error).toMatchObject({ details: { sha256: stored } })
      await opened.store.put('default', content)
      expect(await opened.store.get('default', stored)).toEqual(content)
    })
  })
}
