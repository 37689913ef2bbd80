/** JSON text that a careless store changes. */
export const hostileTexts: readonly (readonly [string, string])[] = [
  ['an own __proto__ key', '{"__proto__":{"admin":true},"constructor":{"prototype":1}}'],
  ['an escaped NUL', '{"text":"a\\u0000b"}'],
  ['a raw U+2028 and U+2029', '{"text":"a\u2028b\u2029c"}'],
  ['a byte order mark at its start and inside', '\uFEFF{"text":"\uFEFF"}'],
  ['an escaped lone surrogate', '{"text":"\\ud83d and \\udc00"}'],
  ['a surrogate pair', '{"text":"\u{1F600}","escaped":"\\ud83d\\ude00"}'],
  ['an integer beyond 2^53', '{"n":9007199254740993,"m":-18446744073709551617}'],
  ['numbers spelled in their own way', '{"n":1.0,"m":1e2,"k":-0,"l":0.10}'],
  ['the same key twice', '{"a":1,"a":2}'],
  ['keys in an order of their own, numbers among them', '{"b":1,"10":2,"9":3,"a":4}'],
  ['white space', ' { "a" :\t1 ,\r\n "b":\u00202 } '],
  ['escapes that could be plain', '{"text":"\\u0041\\/\\b\\f"}'],
  ['a decomposed letter beside a composed one', '{"text":"e\u0301 \u00e9"}'],
  ['a quote of SQL', `{"text":"'; DROP TABLE events; --"}`],
  ['control characters raw and private use', '{"text":"\u007f\u0080\uE000\uFFFF"}'],
]
