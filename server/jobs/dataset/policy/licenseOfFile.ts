import { createHash } from 'node:crypto'

/** More than the longest licence that has a name. */
const charactersMax = 200_000
/** Further down an identifier speaks for a part. */
const headCharacters = 2_000
/** A text that holds more is about the work of others. The first ones are named. */
const licensesMax = 9

/**
 * The licence that a text is, such as that of a `LICENSE` file: what its `SPDX-License-Identifier` says, or the SPDX
 * identifier of the licence whose telling phrases it holds; `A AND B` where it holds several. Another text is
 * `LicenseRef-` and the first 12 hex digits of its SHA-256, with `NonCommercial-` or `Proprietary-` before them where
 * it says so. At most 200 characters.
 */
export const licenseOfFile = (text: string): string => {
  const [, identifier] = /\bSPDX-License-Identifier:[ \t]*([^\s][^\r\n]{0,199})/.exec(text.slice(0, headCharacters)) ?? []
  if (identifier !== undefined) return identifier.replace(/\s*(?:\*\/|-->)?\s*$/, '')
  // Without what depends on how the text is laid out.
  const plain = text.slice(0, charactersMax).toLowerCase().replace(/[\s*_#>`“”"'’-]+/g, ' ')
  const known = new Set([...creativeCommons(plain), ...titledGnu(plain), ...told(plain)])
  if (known.size === 0) for (const license of noticedGnu(plain)) known.add(license)
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  if (nonCommercial.test(plain) && creativeCommons(plain).length === 0) known.add(`LicenseRef-NonCommercial-${hash}`)
  if (known.size > 0) return [...known].slice(0, licensesMax).join(' AND ')
  return isReserved(plain) ? `LicenseRef-Proprietary-${hash}` : `LicenseRef-${hash}`
}

const told = (plain: string): readonly string[] => {
  const found = telling.flatMap(([phrase, license]) => (phrase.test(plain) ? [license] : []))
  if (!/redistribution and use in source and binary forms/.test(plain)) return found
  const clauses = /all advertising materials mentioning/.test(plain) ? 4 : /to endorse or promote products/.test(plain) ? 3 : 2
  return [...found, `BSD-${clauses}-Clause`]
}

const grantOfIsc =
  'permission to use, copy, modify,? and(?:/or)? distribute this software for any purpose with or without fee is hereby granted'

const telling: readonly (readonly [RegExp, string])[] = [
  [/to any person obtaining a copy.{1,120}to deal in the software without restriction/, 'MIT'],
  [/^.{0,200}under (?:the )?(?:terms of )?(?:the )?mit license/, 'MIT'],
  [/apache license,? version 2\.0/, 'Apache-2.0'],
  [new RegExp(`${grantOfIsc}, provided`), 'ISC'],
  [new RegExp(`${grantOfIsc}\\.`), '0BSD'],
  [/mozilla public license,? (?:version|v\.?) ?2\.0/, 'MPL-2.0'],
  [/cc0 1\.0 universal|creative commons zero|creativecommons\.org\/publicdomain\/zero\//, 'CC0-1.0'],
  [/this is free and unencumbered software released into the public domain/, 'Unlicense'],
]

const commonsNames = [
  /\battribution((?: (?:non ?commercial|share ?alike|no ?deriv(?:ative)?s))*) (\d\.\d)/g,
  /\bcreativecommons\.org\/licenses\/by((?: (?:nc|sa|nd))*)\/(\d\.\d)/g,
  /\bcc by((?: (?:nc|sa|nd))*)(?: (\d\.\d))?\b/g,
] as const

const creativeCommons = (plain: string): readonly string[] =>
  /creative ?commons|\bcc by\b/.test(plain)
    ? commonsNames.flatMap((name) => Array.from(plain.matchAll(name), ([, terms = '', version]) => commonsId(terms, version)))
    : []

const commonsId = (terms: string, version: string | undefined): string => {
  const parts = [
    / nc| non/.test(terms) ? 'NC' : '',
    / nd| no ?deriv/.test(terms) ? 'ND' : '',
    / sa| share/.test(terms) ? 'SA' : '',
    version ?? '',
  ]
  return ['CC', 'BY', ...parts.filter((part) => part !== '')].join('-')
}

const gnuTitle = /\bgnu (affero |lesser |library )?general public license (?:\(gpl\) )?version (\d(?:\.\d)?), (?:\d+ )?(?:june|february|november)/g
const gnuNotice =
  /\bgnu (affero |lesser |library )?general public license,? (?:as published by the free software foundation[,;:]? )?(?:either )?(?:version|v) ?(\d(?:\.\d)?)/g

/** The licence alone does not say that a later one may be chosen. */
const titledGnu = (plain: string): readonly string[] =>
  Array.from(plain.matchAll(gnuTitle), ([, kind, version]) => `${gnuId(kind, version)}-only`)

const noticedGnu = (plain: string): readonly string[] => {
  const range = /\bany later version\b|\bor later\b/.test(plain) ? 'or-later' : 'only'
  return Array.from(plain.matchAll(gnuNotice), ([, kind, version]) => `${gnuId(kind, version)}-${range}`)
}

const gnuId = (kind = '', version = ''): string => {
  const name = kind === '' ? 'GPL' : kind === 'affero ' ? 'AGPL' : 'LGPL'
  return `${name}-${version.includes('.') ? version : `${version}.0`}`
}

const nonCommercial = new RegExp(
  [
    '\\b(?:only|solely|exclusively) for (?:[a-z]+ (?:and|or) )?non ?commercial (?:use|purposes?|research)\\b',
    '\\bfor non ?commercial (?:use|purposes?)\\b',
    '\\bnon ?commercial (?:use|purposes?) only\\b',
    '\\bno commercial use\\b',
    '\\bcommercial use is (?:prohibited|forbidden|not (?:permitted|allowed))\\b',
  ].join('|'),
)

const isReserved = (plain: string): boolean =>
  /\bproprietary (?:and confidential|software|licen[cs]e|information)\b|^ ?unlicensed ?$/.test(plain) ||
  (/\ball rights reserved\b/.test(plain) && !/\b(?:permission|permitted|grants?|granted|may|licen[cs]ed)\b/.test(plain))
