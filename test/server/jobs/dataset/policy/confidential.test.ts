import { describe, expect, test } from 'vitest'
import { PolicyBlockError } from '../../../../../domain/errors.ts'
import { confidentialMark, refuseConfidential } from '../../../../../server/jobs/dataset/policy/confidential.ts'

const prose = 'The quick brown fox jumps over the lazy dog, as it does in every sample text.\n'
const says = (text: string) => confidentialMark({ text, declared: {} })
const declares = (declared: Record<string, string>) => confidentialMark({ text: prose, declared })
const refused = (text: string, declared: Record<string, string> = {}): PolicyBlockError => {
  try {
    refuseConfidential('notes/a.md', { text, declared })
  } catch (error) {
    if (error instanceof PolicyBlockError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a document is marked confidential', () => {
  test.each([
    'CONFIDENTIAL',
    'Confidential',
    '# Confidential',
    '**STRICTLY CONFIDENTIAL**',
    '*** CONFIDENTIAL ***',
    '- CONFIDENTIAL -',
    '> Strictly confidential',
    '[CONFIDENTIAL]',
    'Strictly private and confidential',
    'Private & Confidential',
    'Proprietary and Confidential',
    'Company confidential – do not distribute',
    'Confidential: please do not forward.',
    'CONFIDENTIAL – NOT FOR DISTRIBUTION',
    'Acme Corp. | Confidential | Page 3 of 10',
    'Acme Inc. Confidential.',
    '© 2024 Acme GmbH · Vertraulich · Seite 1 von 3',
    'Vertraulich',
    'Streng vertraulich!',
    'Confidentiel',
    'Strictement confidentiel',
    'For internal use only',
    'INTERNAL ONLY',
    'Commercial-in-Confidence',
    'Top Secret',
    'TLP:RED',
    'Classification: Secret',
    'Security classification: RESTRICTED',
    '| Classification | Confidential |',
    '社外秘',
    'This document is strictly confidential and meant for its addressee.',
    'Dieses Dokument ist vertraulich.',
  ])('by a line of its own near its start: %s', (line) => {
    expect(says(`Report\n\n${line}\n\n${prose}`)).toBe(`it says ${JSON.stringify(line)}`)
  })

  test.each([
    { confidential: 'true' },
    { confidential: 'yes' },
    { confidential: 'until 2031' },
    { classification: 'confidential' },
    { classification: 'Internal Only' },
    { classification: 'internal_only' },
    { classification: 'secret' },
    { classification: 'TLP:AMBER' },
    { 'security-classification': 'Restricted' },
    { sensitivity: 'Highly Confidential' },
    { confidentiality: 'Confidential / Acme' },
  ])('by what it declares: %o', (declared) => {
    const [[name, value] = ['', '']] = Object.entries(declared)
    expect(declares(declared)).toBe(`it declares ${name}: ${value}`)
  })

  test('by a header that is repeated on its pages, which the first page has not', () => {
    const page = (nth: number) => `Acme Corp. | Confidential | Page ${nth}\n${prose.repeat(90)}`
    expect(says(prose.repeat(90) + page(2) + page(3))).toBeNull()
    expect(says(prose.repeat(90) + page(2) + page(3) + page(4))).toContain('Page 4')
  })

  test('by its last line', () => {
    expect(says(`${prose.repeat(200)}\nConfidential\n`)).toBe('it says "Confidential"')
  })

  test('by a mark in capitals or with a degree anywhere on its first page', () => {
    expect(says(`${prose.repeat(20)}\nCONFIDENTIAL\n${prose.repeat(20)}`)).toBe('it says "CONFIDENTIAL"')
    expect(says(`${prose.repeat(20)}\nStrictly confidential\n${prose.repeat(20)}`)).not.toBeNull()
  })
})

describe('a document is not marked confidential', () => {
  test.each([
    'Confidential computing protects data in use.',
    'Confidentiality, integrity and availability',
    'Confidential, however, is another matter.',
    'Keep your API key confidential.',
    'A client is confidential or public (RFC 6749).',
    'Confidential clients',
    'Non-confidential',
    'Not confidential',
    'Unclassified',
    'This document is confidential if it holds a name.',
    'L.A. Confidential',
    '- Confidential',
    '* Confidential',
    '1. Confidential',
    'Public, Internal, Confidential, Restricted',
    '| Public | Internal | Confidential |',
    '| Name | Confidential |',
    'Classification: Public',
    'Classification: public, internal or confidential',
    'secret',
    'Private',
    'Internal',
    'Restricted',
    'Confidential Transaction',
    'Le secret professionnel est confidentiel par nature, dit-on.',
    'const confidential = true',
  ])('by a line that talks of something else: %s', (line) => {
    expect(says(`Report\n\n${line}\n\n${prose}`)).toBeNull()
  })

  test.each([
    { confidential: 'false' },
    { confidential: 'No' },
    { confidential: '' },
    { classification: 'public' },
    { classification: 'unclassified' },
    { classification: 'mammal' },
    { classification: 'not confidential' },
    { title: 'Confidential' },
    { keywords: 'confidential computing' },
  ])('by declaring %o', (declared) => {
    expect(declares(declared)).toBeNull()
  })

  test('by a heading of one word further down, where levels of secrecy are explained', () => {
    expect(says(`${prose.repeat(10)}\n## Internal\n${prose}\n## Confidential\n${prose}`)).toBeNull()
  })

  test('by nothing at all', () => {
    expect(says('')).toBeNull()
    expect(says('\n \n')).toBeNull()
  })
})

describe('the refusal of a confidential document', () => {
  test('names document, line and mark, and says what to do', () => {
    const error = refused(`Report\n\nSTRICTLY CONFIDENTIAL\n${prose}`)
    expect(error.code).toBe('policy_block')
    expect(error.message).toBe(
      'notes/a.md:3: the document is marked confidential: it says "STRICTLY CONFIDENTIAL"; ' +
        'leave it out, or take the mark off if it is none',
    )
    expect(error.details).toEqual({
      document: 'notes/a.md',
      rule: 'confidential',
      mark: 'it says "STRICTLY CONFIDENTIAL"',
      line: 3,
    })
  })

  test('names the declaration where there is one', () => {
    const error = refused(prose, { classification: 'secret' })
    expect(error.message).toContain('notes/a.md: the document is marked confidential: it declares classification: secret')
    expect(error.details).not.toHaveProperty('line')
  })

  test('does not come for a document without a mark', () => {
    expect(() => refuseConfidential('a.md', { text: prose, declared: {} })).not.toThrow()
  })

  test.each([
    ['one line of megabytes', 'confidential matters '.repeat(250_000)],
    ['a line of dashes', '-'.repeat(5_000_000)],
    ['many short lines', 'Confidential, do not\n'.repeat(250_000)],
    ['a line of spaces', `${' '.repeat(5_000_000)}x`],
    ['separators alone', `${'| - . '.repeat(33)}\n`.repeat(25_000)],
  ])('is decided in time over %s', (_, text) => {
    expect(says(text)).toBeNull()
  })

  test('is decided in time over a declaration of megabytes', () => {
    expect(declares({ classification: `x${'-'.repeat(5_000_000)}x` })).toBeNull()
  })
})
