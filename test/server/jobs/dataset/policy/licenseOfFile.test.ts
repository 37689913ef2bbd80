import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { licenseOfFile } from '../../../../../server/jobs/dataset/policy/licenseOfFile.ts'

const installed = (path: string) => readFileSync(new URL(`../../../../../node_modules/${path}`, import.meta.url), 'utf8')
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
const title = (name: string) => `                    ${name}\n\n Everyone is permitted to copy and distribute verbatim copies\n`

describe('the licence that a file is', () => {
  test.each([
    ['zod/LICENSE', 'MIT'],
    ['canonicalize/LICENSE', 'Apache-2.0'],
    ['mammoth/LICENSE', 'BSD-2-Clause'],
    ['yaml/LICENSE', 'ISC'],
  ])('is told of one that is in use: %s', (path, license) => {
    expect(licenseOfFile(installed(path))).toBe(license)
  })

  test.each([
    ['SPDX-License-Identifier: CC-BY-NC-4.0\n\nrest', 'CC-BY-NC-4.0'],
    ['<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->', 'MIT OR Apache-2.0'],
    [
      'Redistribution and use in source and binary forms are permitted. The name of Acme may not be used to endorse or promote products.',
      'BSD-3-Clause',
    ],
    ['This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0.', 'MPL-2.0'],
    [title('GNU GENERAL PUBLIC LICENSE\n Version 2, June 1991'), 'GPL-2.0-only'],
    [title('GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007'), 'GPL-3.0-only'],
    [title('GNU LESSER GENERAL PUBLIC LICENSE\n Version 2.1, February 1999'), 'LGPL-2.1-only'],
    [title('GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3, 19 November 2007'), 'AGPL-3.0-only'],
    [
      'under the terms of the GNU General Public License as published by\nthe Free Software Foundation; either version 2 of the License, ' +
        'or (at your option) any later version. See the GNU General Public License, version 2.',
      'GPL-2.0-or-later',
    ],
    ['Creative Commons Legal Code\n\nAttribution 4.0 International', 'CC-BY-4.0'],
    ['Creative Commons\n\nAttribution-ShareAlike 4.0 International', 'CC-BY-SA-4.0'],
    ['Creative Commons\n\nAttribution-NonCommercial-ShareAlike 4.0 International', 'CC-BY-NC-SA-4.0'],
    ['Creative Commons\n\nAttribution-NonCommercial-NoDerivs 3.0 Unported', 'CC-BY-NC-ND-3.0'],
    ['Creative Commons\n\nAttribution-NoDerivatives 4.0 International', 'CC-BY-ND-4.0'],
    ['This book is under https://creativecommons.org/licenses/by-nc-nd/4.0/.', 'CC-BY-NC-ND-4.0'],
    ['All texts are licensed CC BY-NC.', 'CC-BY-NC'],
    ['CC0 1.0 Universal\n\nCREATIVE COMMONS CORPORATION IS NOT A LAW FIRM', 'CC0-1.0'],
    ['This is free and unencumbered software released into the public domain.', 'Unlicense'],
    ['Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted.', '0BSD'],
    ['This work is released under the MIT License.', 'MIT'],
    ['The code is released under the MIT License. The texts are under CC BY-ND 4.0.', 'CC-BY-ND-4.0 AND MIT'],
  ])('is told by its telling phrases', (text, license) => {
    expect(licenseOfFile(text)).toBe(license)
  })

  test('does not depend on case, line breaks or decoration', () => {
    expect(licenseOfFile('# **apache**\n> License,\r\n> VERSION   2.0')).toBe('Apache-2.0')
  })

  test.each([
    ['', 'LicenseRef-'],
    ['Do as you please, but be nice.', 'LicenseRef-'],
    ['Copyright Acme. All rights reserved.', 'LicenseRef-Proprietary-'],
    ['This is proprietary software of Acme.', 'LicenseRef-Proprietary-'],
    ['UNLICENSED\n', 'LicenseRef-Proprietary-'],
    ['You may copy this for non-commercial use only.', 'LicenseRef-NonCommercial-'],
    ['All rights reserved. You may copy this for any purpose.', 'LicenseRef-'],
  ])('is known by its hash where nobody knows it: %s', (text, prefix) => {
    expect(licenseOfFile(text)).toBe(`${prefix}${hash(text)}`)
  })

  test('names the part of a known text that was added: no commercial use', () => {
    const text = `${installed('zod/LICENSE')}\nCommercial use is prohibited.`
    expect(licenseOfFile(text)).toBe(`MIT AND LicenseRef-NonCommercial-${hash(text)}`)
  })

  test('has a name of at most 200 characters however many the text names', () => {
    const text = Array.from({ length: 9 }, (_, nth) => `creativecommons.org/licenses/by-nc-sa/${nth}.0`).join(' ')
    expect(licenseOfFile(text).length).toBeLessThanOrEqual(200)
    expect(licenseOfFile(`SPDX-License-Identifier: ${'A'.repeat(10_000)}`)).toHaveLength(200)
  })

  test.each([
    'attribution'.repeat(500_000),
    'gnu general public license '.repeat(200_000),
    `to any person obtaining a copy `.repeat(200_000),
    ' '.repeat(5_000_000),
    `SPDX-License-Identifier:${' '.repeat(5_000_000)}`,
  ])('is told in time of hostile texts', (text) => {
    expect(licenseOfFile(text)).toMatch(/^LicenseRef-[0-9a-f]{12}$/)
  })
})
