/** Words that any text has, whatever it is about: English, German, French, Spanish. Words of one or two letters are left out anyway. */
const smallWords = new Set(
  (
    'about above after again all also and any are because been before being below between both but can cannot could ' +
    'did does doing done down during each either else every few for from had has have having her here him his how ' +
    'however into its itself just know known may might more most much must nor not now off once one only onto other ' +
    'our out over own per said same say says she should since some such than that the their them then there these ' +
    'they this those through thus too under until upon very was were what when where whether which while who whom ' +
    'whose why will with within without would yes yet you your ' +
    'aber alle allem allen aller alles als also auch auf aus bei beim bis dabei damit dann das dass dem den denn der ' +
    'des die dies diese diesem diesen dieser dieses doch dort durch ein eine einem einen einer eines fur gegen hat ' +
    'haben hatte ihr ihre ihrem ihren ihrer ins ist jede jedem jeden jeder jedes kann kein keine konnen man mehr mit ' +
    'muss nach nicht noch nur oder ohne sehr sein seine sich sie sind sowie uber und uns unter vom von vor wann war ' +
    'waren warum was welche welchem welchen welcher welches wenn wer werden wie wird wurde wurden zum zur zwischen ' +
    'afin ainsi alors apres aucun avant avec avoir car ceci cela ces cet cette ceux chaque comme comment dans depuis ' +
    'des dont donc elle elles entre est etait etaient ete etre fait les leur leurs lors lui mais meme moins nous ont ' +
    'par parce pas pendant peut peuvent plus pour pourquoi quand que quel quelle quelles quels qui quoi sans selon ' +
    'ses son sont sous sur tous tout toute toutes tres une vers vous ' +
    'algun alguna ante antes asi aunque bajo cada como con contra cual cuales cuando cuanto del desde donde durante ' +
    'ella ellas ellos entonces era eran esa ese eso esta estan estas este esto estos fue fueron han hasta hay las los ' +
    'mas mientras muy nos otra otro para pero poco por porque puede pueden pues que quien segun ser sin sobre son sus ' +
    'tambien tan tanto tiene tienen todo todos una unas uno unos'
  ).split(' '),
)

/** Words of one stem mostly begin with the same letters, whatever the language; the short ones differ in a common ending. */
const stemOf = (word: string): string =>
  Array.from(word.replace(endings, '')).slice(0, stemLetters).join('').replace(lastVowel, '')
const stemLetters = 5
const endings = /(?<=.{3})(?:ings?|e[nrdm]s?|es?|s)$/u
const lastVowel = /(?<=.{3})[aeiou]$/u

const unspaced = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]`
const words = new RegExp(String.raw`(?<run>${unspaced}+)|(?:(?!${unspaced})[\p{L}\p{M}\p{N}])+`, 'gu')

/**
 * What a text speaks of, to compare it with another: its words but for the small ones, by their stems, and its numbers
 * as they stand; of scripts that set no space between words, each two characters that stand together.
 */
export const termsOf = (text: string): ReadonlySet<string> => {
  const terms = new Set<string>()
  const bare = text.normalize('NFKD').replace(/\p{Mn}/gu, '').normalize('NFC').toLowerCase()
  for (const { 0: word, groups } of bare.matchAll(words)) {
    if (groups?.['run'] === undefined) {
      if (/\p{N}/u.test(word)) terms.add(word)
      else if (word.length > 2 && !smallWords.has(word)) terms.add(stemOf(word))
      continue
    }
    const characters = Array.from(word)
    if (characters.length === 1) terms.add(word)
    for (const [nth, next] of characters.slice(1).entries()) terms.add(`${characters[nth]}${next}`)
  }
  return terms
}

/** The share of some terms that are among others. One where there are none. */
export const shareIn = (terms: ReadonlySet<string>, others: ReadonlySet<string>): number => {
  if (terms.size === 0) return 1
  let found = 0
  for (const term of terms) if (others.has(term)) found += 1
  return found / terms.size
}
