import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findPersonalData } from '../../../../../server/jobs/dataset/policy/personalData.ts'

const found = (text: string) => findPersonalData(text).map(({ kind, start, end }) => [kind, text.slice(start, end)])
const within = (part: string) => `See ${part}, it says (line 3).`

describe('personal data is found', () => {
  test.each([
    'jane.doe@acme.com',
    'jane+lists@mail.acme.co.uk',
    "o'neil@acme.ie",
    'jörg@müller.de',
    'jane_doe%dev@acme.io',
  ])('as an e-mail address: %s', (email) => {
    expect(found(within(email))).toEqual([['email', email]])
    expect(found(`Jane <${email}>`)).toEqual([['email', email]])
    expect(found(`mailto:${email}`)).toEqual([['email', email]])
    expect(found(`https://acme.com/?user=${email}`)).toEqual([['email', email]])
    expect(found(`${email}.`)).toEqual([['email', email]])
  })

  test.each([
    '+49 30 901820',
    '+1 (202) 456-1111',
    '+1-816-555-1212',
    '+41 44 668 18 00',
    '+442079460958',
    '+1.8005550123',
    '+33 1 42 68 53 00',
  ])('as a telephone number: %s', (phone) => {
    expect(found(within(phone))).toEqual([['phone', phone]])
    expect(found(`tel:${phone}`)).toEqual([['phone', phone]])
  })

  test.each([
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    '4111111111111111',
    '5555555555554444',
    '2223 0031 2200 3222',
    '3782 822463 10005',
    '3056 930902 5904',
    '6011111111111117',
    '3530111333300000',
    '6200 0000 0000 0005',
  ])('as the number of a payment card: %s', (card) => {
    expect(found(within(card))).toEqual([['card', card]])
    expect(found(`${card} 123`)).toEqual([['card', card]])
  })

  test.each([
    'DE89 3704 0044 0532 0130 00',
    'DE89370400440532013000',
    'GB29 NWBK 6016 1331 9268 19',
    'NO93 8601 1117 947',
    'FR14 2004 1010 0505 0001 3M02 606',
    '11010519491231002X',
    'RSSMRA85T10A562S',
  ])('as a number of an account or a person whose form leaves no doubt: %s', (number) => {
    expect(found(within(number))).toEqual([['id_number', number]])
  })

  test('as an account number that words in capitals follow', () => {
    expect(found('IBAN DE89 3704 0044 0532 0130 00 BIC COBA DEFF')).toEqual([['id_number', 'DE89 3704 0044 0532 0130 00']])
  })

  test.each([
    ['PESEL', '44051401359'],
    ['DNI', '12345678Z'],
    ['NIE', 'X1234567L'],
    ['HETU', '131052-308T'],
    ['Personnummer', '811228-9874'],
    ['Personnummer', '19811228-9874'],
    ['Fødselsnummer', '01019030071'],
    ['Aadhaar', '2345 6789 0124'],
    ['Teudat Zehut', '123456782'],
    ['身分證', 'A123456789'],
    ['Steuer-ID', '86095742719'],
    ['BSN', '111222333'],
    ['CPF', '529.982.247-25'],
    ['SIN', '046 454 286'],
    ['ID number', '123456782'],
  ])('as the number of a person beside what it is called: %s %s', (word, number) => {
    expect(found(`${word}: ${number}`)).toEqual([['id_number', number]])
    expect(found(`${number} (${word})`)).toEqual([['id_number', number]])
    expect(found(`Order ${number} has been sent`)).toEqual([])
  })

  test('in order, without overlap, as offsets into the text', () => {
    const text = 'ＡＢ 😀 4111 1111 1111 1111; jane@acme.com, +49 30 901820, DE89370400440532013000, joe@acme.com'
    expect(found(text)).toEqual([
      ['card', '4111 1111 1111 1111'],
      ['email', 'jane@acme.com'],
      ['phone', '+49 30 901820'],
      ['id_number', 'DE89370400440532013000'],
      ['email', 'joe@acme.com'],
    ])
  })

  test('wherever it stands', () => {
    const data = ['jane@acme.com', '+49 30 901820', '4111 1111 1111 1111', 'DE89 3704 0044 0532 0130 00']
    const separators = ['\n', ', ', ' – ', '; ', '\n\n| ', ' (', '" "']
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...data), fc.constantFrom(...separators)), { maxLength: 20 }),
        (parts) => {
          const text = parts.flat().join('')
          expect(findPersonalData(text).map(({ start, end }) => text.slice(start, end))).toEqual(parts.map(([each]) => each))
        },
      ),
    )
  })

  test('to its last digit where two numbers cannot be told apart', () => {
    expect(found('+49 30 901820 4111 1111 1111 1111')).toEqual([['phone', '+49 30 901820 4111 1111 1111 1111']])
  })

  test('in no part of what is found already', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789+-@. aADE\n')), maxLength: 300 }), (text) => {
        let last = 0
        for (const { start, end } of findPersonalData(text)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          last = end
        }
        expect(last).toBeLessThanOrEqual(text.length)
      }),
    )
  })
})

describe('nothing personal is found in', () => {
  test.each([
    ['an example domain', 'user@example.com, user@mail.example.org, a@b.test, root@localhost'],
    ['the user of an address', 'https://jane@acme.com/ https://jane:secret@acme.com/path ssh://git@acme.com'],
    ['a clone address', 'git@github.com:acme/tools.git'],
    ['a package', '@types/node@20.1.0 lodash@4.17.21 npm i left-pad@latest'],
    ['an image for dense screens', 'icon@2x.png and logo@3x.min.svg'],
    ['code with an at sign', '@decorator.method(x) and W@x.mean() and $@ and a@b'],
    ['years', '1999 2000-2024 1914–1918 2024'],
    ['instants', '2024-01-15T10:30:00+01:00 2024-01-15 10:30:00 +0100 1700000000000 1700000000000000'],
    ['books', 'ISBN 978-3-16-148410-0, ISBN-13: 9783161484100, 0-306-40615-2, ISSN 2049-3630'],
    ['articles', 'EAN 4006381333931'],
    ['versions', 'v1.2.3 1.22.333.4444 10.0.19041.1288 g++11 C++17 +1.2.3'],
    ['addresses of machines', '192.168.100.200 127.0.0.1:8080 2001:db8::8a2e:370:7334 00:1A:2B:3C:4D:5E'],
    ['prices', '$1,234,567.89 +1,000,000 €99.99 +12.50 1 000 000 000 kr'],
    ['sums', 'h = h * 69069 + 907133923 and Decimal("+35236450.6") and +3.140000 and 12+4930901820'],
    ['changes of lines', '@@ -100200300,7 +100200301,9 @@'],
    ['hashes', 'd41d8cd98f00b204e9800998ecf8427e 4111111111111111a e4111111111111111'],
    ['identifiers', '550e8400-e29b-41d4-a716-446655440000 411111111111111111111111 4111111111111112'],
    ['fractions', '0.4111111111111111 4111111111111111.5 3,4111111111111111'],
    ['cards of no issuer, or of another length', '1111 1111 1111 1117 5100000000003 9999999999999995'],
    ['an account number with a wrong digit', 'DE88 3704 0044 0532 0130 00 and XX89370400440532013000'],
    ['a number with a wrong checksum', 'PESEL 44051401358, CPF 529.982.247-24, 110105194912310021'],
  ])('%s', (_, text) => {
    expect(found(text)).toEqual([])
  })

  test.each([
    ['at signs', '@'.repeat(2_000_000)],
    ['addresses without an end', 'a@'.repeat(1_000_000)],
    ['domains without an end', `a@${'a.'.repeat(1_000_000)}`],
    ['pluses', '+1 2 3 4 5 6 '.repeat(200_000)],
    ['one digit', '4'.repeat(2_000_000)],
    ['one letter', 'A'.repeat(2_000_000)],
    ['rows of digits', '1234567890123456789 '.repeat(100_000)],
    ['half account numbers', 'DE89 3704 0044 '.repeat(100_000)],
    ['cards with a wrong digit', '4111 1111 1111 1112 '.repeat(100_000)],
    ['white space', ' '.repeat(2_000_000)],
  ])('megabytes of %s, in time', (_, text) => {
    expect(findPersonalData(text)).toEqual([])
  })
})
