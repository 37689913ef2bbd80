import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryEventStore } from '../../../adapters/memory/memoryEventStore.ts'
import { sqliteEventStore } from '../../../adapters/sqlite/sqliteEventStore.ts'
import { sha256 } from '../../../adapters/system/sha256.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { StoreUnavailable } from '../../../domain/errors.ts'
import type { Clock } from '../../../domain/ports/clock.ts'
import type { EventStore } from '../../../domain/ports/eventStore.ts'
import { chainStart, seal } from '../../../domain/seal.ts'
import type { Access } from '../../../server/access.ts'
import { accessStream } from '../../../server/access/accessEvents.ts'
import { tokenAccess } from '../../../server/access/tokenAccess.ts'
import { readTokens } from '../../../server/access/tokenStream.ts'
import { isTokenOf, newTokenText } from '../../../server/access/tokenText.ts'
import { silentTelemetry } from '../../../server/telemetry.ts'
import { manualClock, settled } from '../../support/manualClock.ts'
import { until } from '../../support/until.ts'

type Wanted = Parameters<Access['create']>[0]
const wanted = (over: Partial<Wanted> = {}): Wanted => ({ name: 'ann', role: 'operate', projects: ['red'], expiresAt: null, ...over })

const open = (over: { events?: EventStore; clock?: Clock; logged?: string[] } = {}) => {
  const { events = memoryEventStore(), clock = manualClock(), logged = [] } = over
  const log = { trouble: (what: string) => void logged.push(what), fault: (what: string) => void logged.push(what) }
  const access = tokenAccess({ events, clock, sha256, log: { ...silentTelemetry, ...log } })
  onTestFinished(() => access.close())
  return { access, events, logged }
}

/** What anybody with the right to write to the store may put there. */
const forge = async (events: EventStore, type: string, data: unknown, schemaVersion = 1): Promise<void> => {
  const [last] = await events.readStream(accessStream, { direction: 'backwards', limit: 1 })
  const event = {
    stream: accessStream,
    revision: (last?.revision ?? -1) + 1,
    type,
    schemaVersion,
    recordedAt: '2026-01-01T00:00:00.000Z',
    data: JSON.stringify(data),
    meta: '{}',
  }
  await events.append(accessStream, seal([event], last?.hash ?? chainStart(accessStream, sha256), sha256), last?.revision ?? 'no-stream')
}

describe('a token', () => {
  test('lets its holder in as what it was made for', async () => {
    const { access } = open()
    expect(await access.isRequired()).toBe(false)
    const { token, listed } = await access.create(wanted())
    expect(token).toMatch(new RegExp(`^kno_${listed.id}_[A-Za-z0-9_-]{43}$`))
    expect(await access.check(token)).toEqual({ name: 'ann', role: 'operate', projects: ['red'] })
    expect(access.until(token).aborted).toBe(false)
    expect(await access.isRequired()).toBe(true)
    expect(await access.list()).toEqual([listed])
    expect(listed).toMatchObject({ name: 'ann', createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null, revokedAt: null })
  })

  test('is told once: what is listed and stored holds no part of its secret', async () => {
    const { access, events } = open()
    const { token } = await access.create(wanted())
    const secret = token.slice(-43)
    const stored = await events.readStream(accessStream)
    expect(JSON.stringify([stored, await access.list()])).not.toContain(secret)
    expect(stored.map(({ type }) => type)).toEqual(['TokenCreated'])
    expect(stored[0]?.data).toContain(sha256(token))
  })

  test('is refused as soon as it is revoked, and a server that asked for tokens goes on asking', async () => {
    const { access, events } = open()
    const { token, listed } = await access.create(wanted())
    await access.check(token)
    const signal = access.until(token)
    const revoked = await access.revoke('ann')
    expect(revoked).toEqual({ ...listed, revokedAt: '2026-01-01T00:00:00.000Z' })
    expect(signal.aborted).toBe(true)
    expect(await access.check(token)).toBeNull()
    expect(access.until(token).aborted).toBe(true)
    expect(await access.isRequired()).toBe(true)
    expect(await access.revoke(listed.id)).toEqual(revoked)
    expect(await events.readStream(accessStream)).toHaveLength(2)
  })

  test('is refused from the instant at which it expires, and whoever is connected hears of it', async () => {
    const clock = manualClock()
    const { access } = open({ clock })
    const { token } = await access.create(wanted({ expiresAt: '2026-01-01T00:01:00.123Z' }))
    await access.check(token)
    const signal = access.until(token)
    await clock.advance(60_122)
    expect([signal.aborted, await access.check(token)]).toMatchObject([false, { name: 'ann' }])
    await clock.advance(1)
    expect([signal.aborted, await access.check(token)]).toEqual([true, null])
  })

  test('expires also where the wall clock is set forward', async () => {
    const clock = manualClock()
    const { access } = open({ clock })
    const { token } = await access.create(wanted({ expiresAt: '2026-06-01T00:00:00.000Z' }))
    await access.check(token)
    const signal = access.until(token)
    clock.setWall(Date.UTC(2026, 5, 2))
    await clock.advance(1_000)
    expect(signal.aborted).toBe(true)
  })

  test('shares its end with all who are connected with it, and no other’s', async () => {
    const { access } = open()
    const ann = await access.create(wanted())
    const bob = await access.create(wanted({ name: 'bob' }))
    await access.check(ann.token)
    const [one, two, other] = [access.until(ann.token), access.until(ann.token), access.until(bob.token)]
    await access.revoke(ann.token)
    expect([one.aborted, two.aborted, other.aborted]).toEqual([true, true, false])
  })
})

describe('what is refused', () => {
  test.each<[string, Partial<Wanted>, string]>([
    ['no name', { name: '' }, 'name'],
    ['a name with a line break', { name: 'ann\nbob' }, 'name'],
    ['a name with a NUL', { name: 'ann\0' }, 'name'],
    ['a name that is too long', { name: 'a'.repeat(101) }, 'name'],
    ['a name like an id', { name: '0123456789abcdef' }, 'name'],
    ['a name like a token', { name: 'kno_ann' }, 'name'],
    ['no project at all', { projects: [] }, 'projects'],
    ['a project without a name', { projects: [''] }, 'projects.0'],
    ['an instant that is none', { expiresAt: 'tomorrow' }, 'expiresAt'],
    ['an instant that has passed', { expiresAt: '2025-12-31T23:59:59.999Z' }, 'expiresAt'],
  ])('a token with %s is not made', async (_, over, path) => {
    const { access, events } = open()
    await expect(access.create(wanted(over))).rejects.toMatchObject({ code: 'invalid_input', details: { path } })
    expect(await events.readStream(accessStream)).toEqual([])
  })

  test('a name is given again only once its token lets nobody in any more', async () => {
    const clock = manualClock()
    const { access } = open({ clock })
    const first = await access.create(wanted({ expiresAt: '2026-01-01T00:00:01.000Z' }))
    await expect(access.create(wanted())).rejects.toMatchObject({ code: 'token_name_taken', details: { id: first.listed.id } })
    await clock.advance(1_000)
    const second = await access.create(wanted())
    expect((await access.revoke('ann')).id).toBe(second.listed.id)
    expect((await access.revoke('ann')).id).toBe(first.listed.id)
    await access.create(wanted())
  })

  test('an unknown handle names what was most likely meant, and never repeats a token', async () => {
    const { access } = open()
    const { token } = await access.create(wanted())
    await expect(access.revoke('amn')).rejects.toMatchObject({ code: 'token_not_found', details: { nearest: 'ann' } })
    const { text } = newTokenText()
    for (const handle of [text, `${token}x`, token.slice(0, -1), `kno_${'x'.repeat(1_000_000)}`]) {
      const error: unknown = await access.revoke(handle).catch((raised: unknown) => raised)
      expect(error).toMatchObject({ code: 'token_not_found' })
      expect(JSON.stringify([error, String(error)])).not.toContain(handle.slice(-20))
    }
  })

  test('hostile tokens are no tokens', async () => {
    const { access } = open()
    const { token, listed } = await access.create(wanted())
    const other = await access.create(wanted({ name: 'bob' }))
    const secret = token.slice(-43)
    const hostile = [
      ...['', ' ', '\0', 'kno_', 'null', '__proto__', 'kno___proto___', listed.id, secret, sha256(token)],
      ...[`kno_${listed.id}`, `kno_${listed.id}_`, `kno_${listed.id}_${'A'.repeat(43)}`, `kno_${listed.id}_${secret.slice(1)}`],
      ...[`${token}\0`, `\0${token}`, `${token} `, ` ${token}`, `${token}\n`, token.toUpperCase(), `${token}${token}`],
      ...[`kno_${other.listed.id}_${secret}`, `kno_${'0'.repeat(16)}_${secret}`, token + 'x'.repeat(10_000_000), '\ud800'.repeat(64)],
    ]
    for (const text of hostile) {
      expect(await access.check(text), text.slice(0, 80)).toBeNull()
      expect(access.until(text).aborted).toBe(true)
    }
    expect(await access.check(token)).not.toBeNull()
  })

  test('the same work is done for a token that is there, for one that is not, and for what is none', () => {
    const { text } = newTokenText()
    const work = (hash: string | undefined, given: string): readonly number[] => {
      const hashed: number[] = []
      const counting = (content: string | Uint8Array): string => {
        hashed.push(Math.min(content.length, 64))
        return sha256(content)
      }
      isTokenOf(hash, given, counting)
      return hashed
    }
    const right = work(sha256(text), text)
    expect(right).toEqual([64])
    expect(work(undefined, text)).toEqual(right)
    expect(work(sha256('x'), text)).toEqual(right)
    expect(work(undefined, 'x'.repeat(10_000_000))).toEqual(right)
  })
})

test('whoever is connected is sent away when the server is closed, and nobody is watched any more', async () => {
  const clock = manualClock()
  const { access } = open({ clock })
  const { token } = await access.create(wanted({ expiresAt: '2030-01-01T00:00:00.000Z' }))
  await access.check(token)
  const signal = access.until(token)
  await access.close()
  expect([signal.aborted, access.until(token).aborted]).toEqual([true, true])
  await settled()
  expect(clock.sleepers()).toBe(0)
})

describe('several servers on one log', () => {
  test('one lets in whom another made a token for, and throws out whose token another revoked', async () => {
    const { access: one, events } = open()
    const { access: other } = open({ events })
    expect(await other.isRequired()).toBe(false)
    const { token } = await one.create(wanted())
    await until('the token', () => other.check(token))
    expect(await other.isRequired()).toBe(true)
    const signal = other.until(token)
    await one.revoke('ann')
    await settled()
    expect([signal.aborted, await other.check(token)]).toEqual([true, null])
  })

  test('through a file too, and its files hold no part of a secret', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'knovaryn-access-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const instance = async (): Promise<Access> => {
      const events = await sqliteEventStore(join(folder, 'log.db'), systemClock())
      onTestFinished(() => events.close())
      return open({ events, clock: systemClock() }).access
    }
    const [one, other] = [await instance(), await instance()]
    expect(await other.isRequired()).toBe(false)
    const { token } = await one.create(wanted())
    await until('the token', () => other.check(token))
    const signal = other.until(token)
    await one.revoke('ann')
    await until('the end of the token', () => signal.aborted)
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes(token.slice(-43)), file).toBe(false)
  })

  test('two that make a token at once make both, and only one where the name is the same', async () => {
    const { access: one, events } = open()
    const { access: other } = open({ events })
    await Promise.all([one.create(wanted()), other.create(wanted({ name: 'bob' }))])
    expect((await one.list()).map(({ name }) => name).toSorted()).toEqual(['ann', 'bob'])
    const same = await Promise.allSettled([one.create(wanted({ name: 'cy' })), other.create(wanted({ name: 'cy' }))])
    expect(same.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('to check a token asks no store', async () => {
    const events = memoryEventStore()
    let reads = 0
    const counted: EventStore = {
      ...events,
      readStream: (...args) => ((reads += 1), events.readStream(...args)),
      readAll: (...args) => ((reads += 1), events.readAll(...args)),
      head: () => ((reads += 1), events.head()),
    }
    const { access } = open({ events: counted })
    const { token } = await access.create(wanted())
    await access.check(token)
    await settled()
    reads = 0
    for (let at = 0; at < 1_000; at += 1) await access.check(at % 2 === 0 ? token : 'kno_nobody')
    expect(reads).toBe(0)
  })
})

describe('when the store is away', () => {
  test('nobody is let in before it was read once, and it is asked again', async () => {
    const events = memoryEventStore()
    let isAway = true
    const away: EventStore = {
      ...events,
      readStream: (...args) => (isAway ? Promise.reject(new StoreUnavailable('away')) : events.readStream(...args)),
    }
    const { access } = open({ events: away })
    await expect(access.check('kno_x')).rejects.toMatchObject({ code: 'store_unavailable' })
    isAway = false
    const { token } = await access.create(wanted())
    expect(await access.check(token)).not.toBeNull()
  })

  test('a revocation written meanwhile takes effect once it is back', async () => {
    const events = memoryEventStore()
    const clock = manualClock()
    let isAway = false
    const away: EventStore = {
      ...events,
      readStream: (...args) => (isAway ? Promise.reject(new StoreUnavailable('away')) : events.readStream(...args)),
    }
    const { access, logged } = open({ events: away, clock })
    const { access: other } = open({ events, clock })
    const { token } = await access.create(wanted())
    await access.check(token)
    const signal = access.until(token)
    isAway = true
    await other.revoke('ann')
    await settled()
    expect([signal.aborted, logged]).toEqual([false, ['following the tokens']])
    isAway = false
    await clock.advance(200)
    expect(signal.aborted).toBe(true)
  })
})

describe('an event of the stream that this program cannot read', () => {
  test('ends the token that it speaks of, and lets this program write nothing', async () => {
    const { access, events } = open()
    const ann = await access.create(wanted())
    const bob = await access.create(wanted({ name: 'bob' }))
    await access.check(ann.token)
    const signal = access.until(ann.token)
    await forge(events, 'TokenNarrowed', { id: ann.listed.id, projects: [] })
    await settled()
    expect([signal.aborted, await access.check(ann.token)]).toEqual([true, null])
    expect(await access.check(bob.token)).not.toBeNull()
    await expect(access.revoke('bob')).rejects.toMatchObject({ code: 'newer_schema' })
  })

  test('lets nobody in without a token, even where it is the only one', async () => {
    const { access, events } = open()
    await forge(events, 'TokenCreated', { id: '0123456789abcdef' }, 2)
    expect(await access.isRequired()).toBe(true)
  })

  test.each([
    ['of a newer version', 'TokenRevoked', { tokens: ['?'] }, 2],
    ['that breaks its schema', 'TokenCreated', { id: 'x', role: 'god' }, 1],
  ])('%s and speaks of no token ends all', async (_, type, data, version) => {
    const { access, events } = open()
    const { token } = await access.create(wanted())
    await access.check(token)
    await forge(events, type, data, version)
    await settled()
    expect(await access.check(token)).toBeNull()
    expect((await readTokens(events)).unread).toBe(`${type}:${version}`)
  })
})
