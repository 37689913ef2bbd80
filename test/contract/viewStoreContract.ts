import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type {
  Snapshot,
  SnapshotStore,
  ViewChange,
  ViewCheckpoint,
  ViewDocument,
  ViewStore,
} from '../../domain/ports/viewStore.ts'
import { hostileTexts } from './hostileTexts.ts'
import { randomFrom } from './seededRandom.ts'

export type OpenViewStore = () => Promise<{
  readonly store: ViewStore & SnapshotStore
  readonly close: () => Promise<void>
}>

const at = (place: number): ViewCheckpoint => ({ position: String(place).padStart(4, '0'), eventId: `event-${place}` })

const document = (key: string, wanted: Partial<ViewDocument> = {}): ViewDocument => ({
  key,
  value: `{"key":"${key}"}`,
  terms: [],
  sort: '',
  ...wanted,
})

const put = (each: ViewDocument): ViewChange => ({ kind: 'put', document: each })
const remove = (key: string): ViewChange => ({ kind: 'remove', key })
const keysOf = (documents: readonly ViewDocument[]): readonly string[] => documents.map((each) => each.key)

/** What every store of views and snapshots promises. */
export const viewStoreContract = (name: string, open: OpenViewStore): void => {
  describe(`${name} as a view store`, () => {
    let opened: Awaited<ReturnType<OpenViewStore>>
    let store: ViewStore & SnapshotStore
    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    /** Commits to version 1 of the view `list`, on top of whatever is there. */
    const commit = async (...changes: readonly ViewChange[]): Promise<void> => {
      const from = await store.checkpoint('list', 1)
      const to = at(from === null ? 1 : Number(from.position) + 1)
      expect(await store.commit('list', 1, { from, to }, changes)).toBe(true)
    }

    test('knows no checkpoint, document or list of a view that was never built', async () => {
      expect(await store.checkpoint('list', 1)).toBeNull()
      expect(await store.load('list', 1, ['a'])).toEqual([])
      expect(await store.query('list', 1, { term: 'x' })).toEqual([])
      expect(await store.scan('list', 1)).toEqual([])
      expect(await store.list()).toEqual([])
    })

    test('commits documents and checkpoint together', async () => {
      const a = document('a', { terms: ['x', 'y'], sort: '5' })
      expect(await store.commit('list', 1, { from: null, to: at(3) }, [put(a), put(document('b'))])).toBe(true)
      expect(await store.checkpoint('list', 1)).toEqual(at(3))
      expect(await store.load('list', 1, ['a', 'missing'])).toEqual([a])
    })

    test('moves the checkpoint without a change of documents', async () => {
      await store.commit('list', 1, { from: null, to: at(1) }, [])
      expect(await store.commit('list', 1, { from: at(1), to: at(9) }, [])).toBe(true)
      expect(await store.checkpoint('list', 1)).toEqual(at(9))
    })

    const stale: readonly (readonly [string, ViewCheckpoint | null])[] = [
      ['null, but the view exists', null],
      ['an earlier position', at(1)],
      ['a later position', at(3)],
      ['the same position of another event', { position: at(2).position, eventId: 'other' }],
    ]
    test.each(stale)('answers false and changes nothing when `from` is %s', async (_, from) => {
      await store.commit('list', 1, { from: null, to: at(1) }, [])
      await store.commit('list', 1, { from: at(1), to: at(2) }, [put(document('a'))])
      expect(await store.commit('list', 1, { from, to: at(4) }, [remove('a'), put(document('b'))])).toBe(false)
      expect(await store.checkpoint('list', 1)).toEqual(at(2))
      expect(keysOf(await store.scan('list', 1))).toEqual(['a'])
    })

    test('answers false when a checkpoint was expected and the view does not exist', async () => {
      expect(await store.commit('list', 1, { from: at(1), to: at(2) }, [put(document('a'))])).toBe(false)
      expect(await store.checkpoint('list', 1)).toBeNull()
      expect(await store.scan('list', 1)).toEqual([])
    })

    test('lets exactly one of several concurrent commits move the checkpoint', async () => {
      await commit()
      const rivals = Array.from({ length: 10 }, (_, rival) =>
        store.commit('list', 1, { from: at(1), to: at(2) }, [put(document(`rival-${rival}`))]),
      )
      const results = await Promise.all(rivals)
      expect(results.filter(Boolean)).toHaveLength(1)
      expect(keysOf(await store.scan('list', 1))).toEqual([`rival-${results.indexOf(true)}`])
    })

    test('replaces a document whole: value, lists and place', async () => {
      await commit(put(document('a', { terms: ['x', 'y'], sort: '1' })))
      await commit(put(document('b', { terms: ['x'], sort: '2' })))
      const moved = document('a', { terms: ['x', 'z'], sort: '3', value: '{"moved":true}' })
      await commit(put(moved))
      expect(await store.load('list', 1, ['a'])).toEqual([moved])
      expect(keysOf(await store.query('list', 1, { term: 'x' }))).toEqual(['b', 'a'])
      expect(await store.query('list', 1, { term: 'y' })).toEqual([])
      expect(await store.query('list', 1, { term: 'z' })).toEqual([moved])
    })

    test('removes a document from everywhere, and a missing one without complaint', async () => {
      await commit(put(document('a', { terms: ['x'] })), put(document('b', { terms: ['x'] })))
      await commit(remove('a'), remove('missing'))
      expect(await store.load('list', 1, ['a'])).toEqual([])
      expect(keysOf(await store.query('list', 1, { term: 'x' }))).toEqual(['b'])
      expect((await store.list())[0]?.documents).toBe(1)
    })

    test('applies the changes of one commit in their order', async () => {
      const last = document('a', { value: '2', terms: ['x'] })
      await commit(put(document('a', { value: '1' })), remove('a'), put(last))
      await commit(put(document('b', { terms: ['x'] })), remove('b'))
      expect(await store.scan('list', 1)).toEqual([last])
      expect(keysOf(await store.query('list', 1, { term: 'x' }))).toEqual(['a'])
      expect((await store.list())[0]?.documents).toBe(1)
    })

    test('lists each document once under a term that it names twice', async () => {
      await commit(put(document('a', { terms: ['x', 'x'] })))
      expect(keysOf(await store.query('list', 1, { term: 'x' }))).toEqual(['a'])
    })

    test('loads a key that is asked for twice once', async () => {
      await commit(put(document('a')))
      expect(keysOf(await store.load('list', 1, ['a', 'a']))).toEqual(['a'])
    })

    test('loads more keys at once than a database takes parameters', async () => {
      const keys = Array.from({ length: 40_000 }, (_, index) => `key-${index}`)
      await commit(put(document('key-7')), put(document('key-39999')))
      expect(keysOf(await store.load('list', 1, keys)).toSorted()).toEqual(['key-39999', 'key-7'])
    })

    test('orders a list by sort, then key, each by code point', async () => {
      const sorts = ['', '10', '9', 'Z', 'a', 'é', '\uFFFD', '\u{1F600}']
      const keys = ['a', '\uFFFD', '\u{1F600}']
      const ordered = sorts.flatMap((sort) => keys.map((key) => ({ sort, key: `${sort}-${key}` })))
      const documents = ordered.map(({ sort, key }) => put(document(key, { sort, terms: ['x'] })))
      await commit(...documents.toReversed())
      expect(keysOf(await store.query('list', 1, { term: 'x' }))).toEqual(ordered.map(({ key }) => key))
    })

    test('scans in order of key by code point, whatever the sort says', async () => {
      const keys = ['', '10', '9', 'Z', 'a', 'é', '\uFFFD', '\u{1F600}']
      await commit(...keys.map((key, index) => put(document(key, { sort: String(9 - index) }))).toReversed())
      expect(keysOf(await store.scan('list', 1))).toEqual(keys)
      expect(keysOf(await store.scan('list', 1, { after: '', limit: 2 }))).toEqual(['10', '9'])
      expect(keysOf(await store.scan('list', 1, { after: 'b' }))).toEqual(['é', '\uFFFD', '\u{1F600}'])
    })

    test('gives lists in pages of 100 and scans in pages of 1000 unless told otherwise', async () => {
      await commit(...Array.from({ length: 1001 }, (_, index) => put(document(`key-${index}`, { terms: ['x'] }))))
      expect(await store.query('list', 1, { term: 'x' })).toHaveLength(100)
      expect(await store.scan('list', 1)).toHaveLength(1000)
    })

    test('keeps projections and versions apart', async () => {
      await store.commit('list', 1, { from: null, to: at(1) }, [put(document('a', { value: '1', terms: ['x'] }))])
      await store.commit('list', 2, { from: null, to: at(2) }, [put(document('a', { value: '2', terms: ['x'] }))])
      await store.commit('other', 1, { from: null, to: at(3) }, [put(document('a', { value: '3', terms: ['x'] }))])
      expect((await store.query('list', 2, { term: 'x' }))[0]?.value).toBe('2')
      await store.drop('list', 1)
      expect(await store.checkpoint('list', 1)).toBeNull()
      expect(await store.scan('list', 1)).toEqual([])
      expect(await store.query('list', 1, { term: 'x' })).toEqual([])
      expect(await store.list()).toEqual([
        { name: 'list', version: 2, checkpoint: at(2), documents: 1 },
        { name: 'other', version: 1, checkpoint: at(3), documents: 1 },
      ])
    })

    test('builds a view anew after it was dropped, with nothing of the old one left', async () => {
      await commit(put(document('old', { terms: ['x'] })))
      await store.drop('list', 1)
      await store.drop('list', 1)
      const anew = [put(document('new', { terms: ['x'] }))]
      expect(await store.commit('list', 1, { from: null, to: at(1) }, anew)).toBe(true)
      expect(keysOf(await store.scan('list', 1))).toEqual(['new'])
      expect(keysOf(await store.query('list', 1, { term: 'x' }))).toEqual(['new'])
      expect((await store.list())[0]?.documents).toBe(1)
    })

    test.each(hostileTexts)('keeps a value byte for byte: %s', async (_, value) => {
      await commit(put(document('a', { value, terms: [value], sort: value })))
      const [stored] = await store.query('list', 1, { term: value })
      expect(stored).toEqual(document('a', { value, terms: [value], sort: value }))
    })

    test.each([1, 2, 3])('answers like a plain map through random changes, paged (seed %i)', async (seed) => {
      const random = randomFrom(seed)
      const expected = new Map<string, ViewDocument>()
      const term = (): string => `term-${random.below(4)}`
      for (let round = 0; round < 30; round += 1) {
        const changes = Array.from({ length: 1 + random.below(5) }, () => {
          const key = `key-${random.below(15)}`
          if (random.below(4) === 0) return remove(key)
          const terms = [...new Set([term(), term()])]
          return put(document(key, { value: `${round}`, terms, sort: `${random.below(5)}` }))
        })
        for (const change of changes) {
          if (change.kind === 'put') expected.set(change.document.key, change.document)
          else expected.delete(change.key)
        }
        await commit(...changes)
      }
      const place = ({ sort, key }: ViewDocument): string => `${sort}|${key}`
      for (const each of ['term-0', 'term-1', 'term-2', 'term-3']) {
        const found: ViewDocument[] = []
        for (let pages = 0; pages < 100; pages += 1) {
          const last = found.at(-1)
          const page = await store.query('list', 1, {
            term: each,
            limit: 2,
            ...(last === undefined ? {} : { after: { sort: last.sort, key: last.key } }),
          })
          if (page.length === 0) break
          found.push(...page)
        }
        const wanted = [...expected.values()].filter((one) => one.terms.includes(each))
        expect(found).toEqual(wanted.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)))
      }
      expect((await store.list())[0]?.documents).toBe(expected.size)
    })
  })

  describe(`${name} as a snapshot store`, () => {
    let opened: Awaited<ReturnType<OpenViewStore>>
    let store: SnapshotStore
    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    test('knows no snapshot of a stream that has none', async () => {
      await store.saveSnapshot('job-a', snapshot({}))
      expect(await store.loadSnapshot('job-b')).toBeNull()
    })

    test.each<readonly [string, Partial<Snapshot>, boolean]>([
      ['a later revision', { revision: 1999 }, true],
      ['the same revision', { state: '{"again":true}' }, true],
      ['an earlier revision', { revision: 5 }, false],
      ['an earlier revision of a newer fold', { revision: 5, foldVersion: 3 }, true],
      ['an earlier revision of an older fold', { revision: 5, foldVersion: 1 }, true],
    ])('given %s, replaces the stored snapshot: %o', async (_, wanted, replaces) => {
      await store.saveSnapshot('job-a', snapshot({}))
      await store.saveSnapshot('job-a', snapshot(wanted))
      expect(await store.loadSnapshot('job-a')).toEqual(replaces ? snapshot(wanted) : snapshot({}))
    })
  })
}

const snapshot = (wanted: Partial<Snapshot>): Snapshot => ({
  revision: 999,
  hash: 'a'.repeat(64),
  foldVersion: 2,
  state: '{"state":"running"}',
  checksum: 'b'.repeat(64),
  ...wanted,
})
