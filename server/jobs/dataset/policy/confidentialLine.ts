// What people write on a document that is not for everyone, in the languages it is commonly written in.
const confidential = 'confidential|vertraulich|confidentiel(?:le)?|confidencial|riservato|vertrouwelijk'
const degree =
  '(?:strictly|highly|company|business|private (?:and|&)|proprietary (?:and|&)|streng|strikt|strictement|estrictamente|strettamente)'
const plainMark = new RegExp(`^(?:${confidential})$`, 'i')
const strongMark = new RegExp(
  `^(?:(?:${degree} )+(?:${confidential})|(?:${confidential}) (?:and|&) proprietary|commercial[ -]in[ -]confidence` +
    '|(?:for )?internal(?: use)? only|(?:nur )?für den internen gebrauch|nur für den (?:internen )?dienstgebrauch' +
    '|(?:à )?usage interne(?: uniquement)?|top secret|streng geheim|tlp ?(?:red|amber(?:\\+strict)?)|社外秘|机密|機密)$',
  'i',
)
const otherLevel =
  /^(?:secret|classified|restricted|internal|private|geheim|intern|interne|secreto|segreto|proprietary|red|amber(?:\+strict)?)$/i
const isOpen = /^(?:public|open|unclassified|unrestricted)$/i

const label = new RegExp(
  '^(?:(?:security|data|document|information) )?(?:classification|sensitivity|confidentiality|protective marking|tlp)$' +
    '|^klassifizierung$|^vertraulichkeit(?:sstufe)?$',
  'i',
)
const handling = new RegExp(
  '^(?:(?:please )?do not (?:distribute|copy|share|forward|disclose|circulate|reproduce|publish)' +
    '|not for (?:\\S+ )?(?:distribution|release|disclosure|publication|circulation)' +
    '|nicht weitergeben|all rights reserved|copyright)\\b',
  'i',
)
const page = /^(?:page|seite|p) ?\d+(?: ?(?:of|von|\/) ?\d+)?$/i
/** A name, a date, a version: words that each begin with a capital or a digit, which no sentence does. */
const title = /^[\p{Lu}\d©&(][^ ]*(?: [\p{Lu}\d©&(][^ ]*){0,6}$/u
const statement = new RegExp(
  '^(?:this|the (?:present|following)) (?:document|report|file|memo|memorandum|presentation|paper) is ' +
    '(?:strictly |highly |company )?confidential\\b(?! (?:if|when|unless|until|or)\\b)' +
    '|^dieses dokument ist (?:streng )?vertraulich\\b',
  'i',
)

const lineCharactersMax = 200

/** In every line that marks anything. Most lines are done with after this. */
const telltale = /conf|vertr|riserv|geheim|gebrauch|intern|secret|tlp|classif|klassif|sensitiv|marking|社外秘|机密|機密/i

/** Whether the value, as in `classification: <value>`, is a level that is kept from others. */
export const isConfidentialLevel = (value: string): boolean => {
  const parts = partsOf(value.slice(0, lineCharactersMax).replaceAll('_', ' '))
  return parts.some((part) => isLevel(part)) && !isEnumeration(parts)
}

/**
 * How surely the line marks its document as confidential: `strong` is said of documents alone; `plain` is one word
 * that may also be a heading; null is no mark. A sentence about confidentiality is none.
 */
export const confidentialLine = (line: string): 'strong' | 'plain' | null => {
  if (!telltale.test(line)) return null
  const bare = undecorated(line.slice(0, lineCharactersMax))
  if (statement.test(bare)) return 'strong'
  if (line.length > lineCharactersMax || isListItem(line)) return null
  const parts = partsOf(bare)
  if (parts.length === 0 || isEnumeration(parts)) return null
  if (parts.some((part) => label.test(part))) return parts.some((part) => isLevel(part)) ? 'strong' : null
  // A row of a table has a word for each column: it marks nothing unless it says what it classifies.
  if (/^\s*\|/.test(line) || !parts.every((part) => isMark(part) || standsBeside(part))) return null
  const mark = parts.find((part) => isMark(part))
  if (mark === undefined) return null
  return parts.some((part) => strongMark.test(part) || handling.test(part)) || mark === mark.toUpperCase() ? 'strong' : 'plain'
}

const isMark = (part: string): boolean => plainMark.test(part) || strongMark.test(part)
const isLevel = (part: string): boolean => isMark(part) || otherLevel.test(part)
const standsBeside = (part: string): boolean => handling.test(part) || page.test(part) || title.test(part)

/** A list of levels explains them. */
const isEnumeration = (parts: readonly string[]): boolean =>
  parts.some((part) => isOpen.test(part)) ||
  new Set(parts.filter((part) => isLevel(part)).map((part) => part.toLowerCase())).size > 2

const undecorated = (line: string): string =>
  line.replace(/^[\s#>*_=~|[\](){}<"'“„«–—-]+/, '').replace(/[\s#>*_=~|[\](){}<"'”“»–—-]+$/, '')

const partsOf = (text: string): readonly string[] =>
  text
    .split(/[|·•;:!\t]|\s[-–—/]+\s|\s{2,}|(?<=\w\w)[.,](?=\s|$)/)
    .map((part) => undecorated(part))
    .filter((part) => part !== '')

/** `- Confidential` is an item of a list, `- CONFIDENTIAL -` a decorated line. */
const isListItem = (line: string): boolean => {
  const [, bullet] = /^\s*([-*+•]|\d+[.)])\s/.exec(line) ?? []
  return bullet !== undefined && !line.trimEnd().endsWith(bullet)
}
