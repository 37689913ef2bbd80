import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chainStart, idOfHash, seal, sealHash, type Unsealed } from '../../domain/seal.ts'

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
const seed = 20_260_107
const previous = sha256('before')

const unsealed = (overrides: Partial<Unsealed> = {}): Unsealed => ({
  stream: 'job-0123456789abcdef0123456789abcdef',
  revision: 3,
  type: 'JobLogged',
  schemaVersion: 1,
  recordedAt: '2026-01-01T00:00:00.000Z',
  data: '{"level":"info","message":"reading"}',
  meta: '{"projectId":"default","actor":"ann","commandId":"1"}',
  ...overrides,
})

describe('a seal', () => {
  test.each([
    ['stream', { stream: 'job-ffffffffffffffffffffffffffffffff' }],
    ['revision', { revision: 4 }],
    ['type', { type: 'JobStarted' }],
    ['schemaVersion', { schemaVersion: 2 }],
    ['recordedAt', { recordedAt: '2026-01-01T00:00:00.001Z' }],
    ['data', { data: '{"level":"info","message":"reading" }' }],
    ['meta', { meta: '{"projectId":"default","actor":"bob","commandId":"1"}' }],
  ])('is broken when %s changes', (_field, change) => {
    expect(sealHash(unsealed(change), previous, sha256)).not.toBe(sealHash(unsealed(), previous, sha256))
  })

  test('is broken when another event stood before', () => {
    expect(sealHash(unsealed(), sha256('another'), sha256)).not.toBe(sealHash(unsealed(), previous, sha256))
  })

  test(`has one reading: nothing can be moved over the border of two fields (seed ${seed})`, () => {
    // No field that a program writes holds NUL: names and JSON text cannot.
    const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((each) => each.replaceAll('\u0000', ''))
    const fields = fc.record({ type: text, recordedAt: text, data: text, meta: text, schemaVersion: fc.nat(120) })
    fc.assert(
      fc.property(fields, fields, (left, right) => {
        const same = JSON.stringify(left) === JSON.stringify(right)
        const hashes = [left, right].map((each) => sealHash(unsealed(each), previous, sha256))
        expect(hashes[0] === hashes[1]).toBe(same)
      }),
      { seed, numRuns: 500 },
    )
    const shifted = unsealed({ data: `${unsealed().data}x`, meta: unsealed().meta.slice(1) })
    expect(sealHash(shifted, previous, sha256)).not.toBe(sealHash(unsealed(), previous, sha256))
    const digits = sealHash(unsealed({ schemaVersion: 1, revision: 11 }), previous, sha256)
    expect(sealHash(unsealed({ schemaVersion: 11, revision: 1 }), previous, sha256)).not.toBe(digits)
  })

  test('gives each event an id of its own: a UUID of version 8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const hash = Buffer.from(bytes).toString('hex')
        const id = idOfHash(hash)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        // All but the six bits that RFC 9562 takes are those of the hash.
        const plain = id.replaceAll('-', '')
        expect(plain.slice(0, 12) + plain.slice(13, 16) + plain.slice(17)).toBe(
          hash.slice(0, 12) + hash.slice(13, 16) + hash.slice(17, 32),
        )
      }),
      { seed },
    )
  })

  test('chains events to the name of their stream and to each other', () => {
    const start = chainStart(unsealed().stream, sha256)
    expect(start).toBe(sha256('job-0123456789abcdef0123456789abcdef'))
    const [first, second] = seal([unsealed({ revision: 0 }), unsealed({ revision: 1 })], start, sha256)
    expect(first?.hash).toBe(sealHash(unsealed({ revision: 0 }), start, sha256))
    expect(second?.hash).toBe(sealHash(unsealed({ revision: 1 }), first?.hash ?? '', sha256))
    expect(first?.id).toBe(idOfHash(first?.hash ?? ''))
    expect(first?.data).toBe(unsealed().data)
  })

  test('is the same whether events are sealed together or one after the other', () => {
    const three = [0, 1, 2].map((revision) => unsealed({ revision }))
    const [first] = seal(three.slice(0, 1), previous, sha256)
    const others = seal(three.slice(1), first?.hash ?? '', sha256)
    expect([first, ...others]).toEqual(seal(three, previous, sha256))
  })
})
