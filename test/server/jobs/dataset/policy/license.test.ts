import { describe, expect, test } from 'vitest'
import { PolicyBlockError } from '../../../../../domain/errors.ts'
import { licenseOf, refuseBlockedLicense } from '../../../../../server/jobs/dataset/policy/license.ts'

const refused = (license: string, from?: string): PolicyBlockError => {
  try {
    refuseBlockedLicense('docs/a.md', license, from)
  } catch (error) {
    if (error instanceof PolicyBlockError) return error
    throw error
  }
  throw new Error(`${license} was not refused`)
}

describe('the licence that a document declares', () => {
  test.each([
    [{ license: 'MIT' }, 'MIT'],
    [{ licence: ' CC BY 4.0 ' }, 'CC BY 4.0'],
    [{ license: '', licence: 'ISC' }, 'ISC'],
    [{ 'dcterms.license': 'https://creativecommons.org/licenses/by-nc/4.0/' }, 'https://creativecommons.org/licenses/by-nc/4.0/'],
    [{ license: 'House rules' }, 'House rules'],
  ])('is kept as it is written: %o', (declared, license) => {
    expect(licenseOf(declared)).toBe(license)
  })

  test('is recognised where the whole text stands in place of a name', () => {
    const text = 'Attribution-NonCommercial 4.0 International. Creative Commons Corporation is not a law firm. '.repeat(9)
    expect(licenseOf({ license: text })).toBe('CC-BY-NC-4.0')
  })

  test('is null where none is declared', () => {
    expect(licenseOf({})).toBeNull()
    expect(licenseOf({ title: 'MIT', license: ' ' })).toBeNull()
  })
})

describe('a licence that allows training data', () => {
  test.each([
    'MIT',
    'Apache-2.0',
    'CC-BY-4.0',
    'CC-BY-SA-4.0',
    'cc0-1.0',
    'Unlicense',
    'The Unlicense',
    'GPL-2.0-only WITH Classpath-exception-2.0',
    'MIT OR CC-BY-NC-4.0',
    'CC-BY-ND-4.0 or MIT',
    'MIT OR proprietary',
    '(CC-BY-NC-4.0 AND MIT) OR ISC',
    'MIT AND ISC',
    'LicenseRef-0123456789ab',
    'House rules of the club',
    'SEE LICENSE IN LICENSE.txt',
    'Nonesuch 1.0',
    'NCSA',
    'https://creativecommons.org/licenses/by/4.0/',
    '((((',
    'OR',
    '',
  ])('is let pass: %s', (license) => {
    expect(() => refuseBlockedLicense('a.md', license)).not.toThrow()
  })
})

describe('a licence that allows no training data', () => {
  test.each([
    ['CC-BY-NC-4.0', 'non_commercial'],
    ['cc-by-nc-sa-3.0', 'non_commercial'],
    ['CC BY-NC 4.0', 'non_commercial'],
    ['CC_BY_NC', 'non_commercial'],
    ['CC-BY-NC-4.0 or later', 'non_commercial'],
    ['CC-BY-NC-4.0 or (at your option) any later version', 'non_commercial'],
    ['https://creativecommons.org/licenses/by-nc-sa/4.0/', 'non_commercial'],
    ['Creative Commons Attribution-NonCommercial 4.0 International (CC BY-NC 4.0)', 'non_commercial'],
    ['PolyForm-Noncommercial-1.0.0', 'non_commercial'],
    ['MIT AND CC-BY-NC-4.0', 'non_commercial'],
    ['(MIT OR ISC) AND CC-BY-NC-4.0', 'non_commercial'],
    ['CC-BY-NC-4.0 OR CC-BY-ND-4.0', 'non_commercial'],
    ['CC-BY-ND-4.0', 'no_derivatives'],
    ['CC BY-ND 3.0', 'no_derivatives'],
    ['http://creativecommons.org/licenses/by-nd/3.0/', 'no_derivatives'],
    ['Attribution-NoDerivatives 4.0 International', 'no_derivatives'],
    ['proprietary', 'proprietary'],
    ['Proprietary license of Acme', 'proprietary'],
    ['LicenseRef-Proprietary-0123456789ab', 'proprietary'],
    ['all-rights-reserved', 'proprietary'],
    ['© 2024 Acme. All rights reserved.', 'proprietary'],
    ['UNLICENSED', 'proprietary'],
    ['none', 'proprietary'],
    ['MIT AND proprietary', 'proprietary'],
  ])('is refused: %s', (license, rule) => {
    const error = refused(license)
    expect(error.code).toBe('policy_block')
    expect(error.details).toEqual({ document: 'docs/a.md', rule, license, from: 'its own declaration' })
  })

  test('is refused with document, licence, where it stands, the rule and what to do', () => {
    expect(refused('CC-BY-ND-4.0', 'docs/LICENSE').message).toBe(
      'docs/a.md: no training data may be made under its licence "CC-BY-ND-4.0" (from docs/LICENSE): it allows no derived works; ' +
        'leave the document out, or declare another licence if its owner has given you one',
    )
  })

  test('is refused in time however it is written', () => {
    expect(refused(`${'('.repeat(100_000)} CC-BY-NC-4.0`).details.rule).toBe('non_commercial')
    expect(refused(`CC-BY-NC-4.0${' '.repeat(1_000_000)}`).details.rule).toBe('non_commercial')
    expect(() => refuseBlockedLicense('a.md', 'MIT OR '.repeat(28))).not.toThrow()
  })
})
