/** Small numbers as words, in English, German, French and Spanish, by their value: cardinals, then ordinals. */
const words: Readonly<Record<number, string>> = {
  0: 'zero null zéro cero',
  1: 'one ein eine einem einen einer eins un une uno una once first erste ersten erster erstes premier première primero primera primer',
  2: 'two zwei deux dos twice second zweite zweiten zweiter zweites deuxième seconde segundo segunda',
  3: 'three drei trois tres third dritte dritten dritter drittes troisième tercero tercera tercer',
  4: 'four vier quatre cuatro fourth vierte vierten vierter viertes quatrième cuarto cuarta',
  5: 'five fünf cinq cinco fifth fünfte fünften fünfter fünftes cinquième quinto quinta',
  6: 'six sechs seis sixth sechste sechsten sechster sechstes sixième sexto sexta',
  7: 'seven sieben sept siete seventh siebte siebten siebter siebtes septième séptimo séptima',
  8: 'eight acht huit ocho eighth achte achten achter achtes huitième octavo octava',
  9: 'nine neun neuf nueve ninth neunte neunten neunter neuntes neuvième noveno novena',
  10: 'ten zehn dix diez tenth zehnte zehnten zehnter zehntes dixième décimo décima',
  11: 'eleven elf onze eleventh elfte elften',
  12: 'twelve zwölf douze doce dozen dutzend douzaine docena twelfth zwölfte zwölften',
  13: 'thirteen dreizehn treize trece thirteenth',
  14: 'fourteen vierzehn quatorze catorce fourteenth',
  15: 'fifteen fünfzehn quinze quince fifteenth',
  16: 'sixteen sechzehn seize dieciséis sixteenth',
  17: 'seventeen siebzehn diecisiete seventeenth',
  18: 'eighteen achtzehn dieciocho eighteenth',
  19: 'nineteen neunzehn diecinueve nineteenth',
  20: 'twenty zwanzig vingt veinte twentieth',
  30: 'thirty dreißig trente treinta thirtieth',
  40: 'forty vierzig quarante cuarenta fortieth',
  50: 'fifty fünfzig cinquante cincuenta fiftieth',
  60: 'sixty sechzig soixante sesenta sixtieth',
  70: 'seventy siebzig setenta seventieth',
  80: 'eighty achtzig ochenta eightieth',
  90: 'ninety neunzig noventa ninetieth',
  100: 'hundred hundert cent cien ciento hundredth',
  1000: 'thousand tausend mille mil thousandth',
}

const valueOf = new Map(Object.entries(words).flatMap(([value, each]) => each.split(' ').map((word) => [word, Number(value)] as const)))

/** The values of the number words in a text, as plain digits; `twenty-five` is 25, and its parts. */
export const numberWordsIn = (text: string): ReadonlySet<string> => {
  const values = new Set<string>()
  let tens = 0
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    if (joining.has(word)) continue
    const value = valueOf.get(word) ?? unitAndTens(word)
    if (value !== undefined) values.add(String(value))
    if (value !== undefined && tens > 0 && value < 10) values.add(String(tens + value))
    tens = value !== undefined && value >= 20 && value < 100 ? value : 0
  }
  return values
}

const joining = new Set(['and', 'et', 'y'])

/** As German has it: fünfundzwanzig. */
const unitAndTens = (word: string): number | undefined => {
  const [unit, tens] = word.split('und')
  const [small, large] = [valueOf.get(unit ?? ''), valueOf.get(tens ?? '')]
  return small !== undefined && large !== undefined && small < 10 && large < 100 ? small + large : undefined
}
