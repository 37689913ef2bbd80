/**
 * Phrases of English, German, French and Spanish that give an example away. `strict` ones are bad wherever they stand;
 * the others are let pass where the source speaks so itself: `word` of a match, or else all of it, is in there.
 */
export type Phrases = { readonly strict?: readonly RegExp[]; readonly others?: readonly RegExp[] }

/** Text as phrases are looked for in it. */
export const plainWords = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/[‘’ʼ`´]/g, "'").replace(/\s+/g, ' ')

/** The first phrase of `text` that is bad beside that source, or null. Both as `plainWords`. */
export const phraseIn = ({ strict = [], others = [] }: Phrases, text: string, source: string): string | null => {
  for (const phrase of strict) {
    const match = phrase.exec(text)
    if (match !== null) return match[0]
  }
  for (const phrase of others) {
    const match = phrase.exec(text)
    if (match !== null && !speaksOf(source, match)) return match[0]
  }
  return null
}

const speaksOf = (source: string, { 0: all, groups }: RegExpExecArray): boolean => {
  const word = groups?.['word']
  return word === undefined ? source.includes(all) : new RegExp(String.raw`(?<!\p{L})${word}`, 'u').test(source)
}

/** Whole words. */
const phrase = (source: string): RegExp => new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source})(?![\p{L}\p{N}])`, 'u')

const texts = {
  en: '(?<word>chunk|passage|excerpt|snippet|text|document|section|paragraph|article)',
  de: '(?<word>passage|textstelle|auszug|abschnitt|text|dokument|absatz|artikel)(?:e?s)?',
  fr: '(?<word>passage|extrait|texte|document|section|paragraphe|article)',
  es: '(?<word>pasaje|fragmento|extracto|texto|documento|sección|párrafo|artículo)',
}

const given = {
  en: '(?:above|following|preceding|given|provided)',
  de: '(?:obig|folgend|vorliegend|gegeben|genannt)e[nmrs]?',
}

/** An answer that is none. */
export const refusals: Phrases = {
  others: [
    phrase(`(?:as|i'm|i am)(?: just| only)? an? (?:ai|artificial intelligence|(?:large )?language model)`),
    phrase(`i(?: cannot|'m unable to| am unable to| can't| can not|'m not able to| am not able to| won't| will not) (?:help|assist|answer|provide|comply|fulfill?|complete|create|generate|determine|share|do (?:that|this))`),
    phrase(`i (?:do not|don't) have (?:access|(?:enough|any|sufficient) information)`),
    /^(?:i'm|i am) (?:very |so )?sorry/u,
    phrase('(?:als|ich bin)(?: nur)?(?: ein| eine)? (?:ki(?:-\\p{L}+)?|künstliche intelligenz|(?:großes )?sprachmodell)'),
    phrase('ich kann (?:dir |ihnen )?(?:dabei|damit|das|darauf|dazu|diese\\p{L}?)[^.!?]{0,60} nicht'),
    /^(?:es )?tut mir (?:sehr )?leid/u,
    phrase("en tant (?:qu'une? |que )(?:ia|intelligence artificielle|modèle de langage)|en tant qu'(?:ia|intelligence artificielle)"),
    phrase('je ne (?:peux pas (?:vous |t\')?(?:aider|répondre|fournir|donner)|suis pas en mesure)'),
    /^(?:je suis )?(?:vraiment )?désolée?(?!\p{L})/u,
    phrase('(?:como|soy)(?: una?)? (?:ia|inteligencia artificial|modelo de lenguaje)'),
    phrase('no puedo (?:ayudar(?:te|le)?|responder|proporcionar|cumplir)'),
    /^lo siento/u,
    /^(?:n\/a|unknown|not (?:specified|mentioned|stated|given|known|available|applicable)|nicht (?:angegeben|genannt|bekannt)|non (?:précisé|mentionné|spécifié)e?|no (?:especificado|mencionado))[.!]?$/u,
  ],
}

/** What is from the prompt, not from the source. */
export const promptLeaks: Phrases = {
  strict: [/<\/?chunk(?:-\d+)?>/u, /"(?:examples|family|question|answer|quote)"\s*:/u],
  others: [
    phrase('(?<word>json)'),
    phrase('question_answer|language model|system prompt|(?:the|this|my) (?<word>prompt)'),
    phrase(`(?:the|this|that)(?: ${given.en})? ${texts.en}`),
    phrase(`(?:de[rsmn]|die|das|diese[rsmn]?|im|vom|zum)(?: ${given.de})? ${texts.de}`),
    phrase(`(?:l[ea] |ce(?:t|tte)? |du |au |l')${texts.fr}`),
    phrase(`(?:el|la|los|del|al|est[ea]) ${texts.es}`),
  ],
}

/** What only makes sense to somebody with the source before them. */
export const pointers: Phrases = {
  strict: [
    phrase(`according to (?:the|this|that)(?: ${given.en})? (?:${texts.en}|author|writer|figure|table)`),
    phrase(`do(?:es)? (?:the|this)(?: ${given.en})? (?:${texts.en}|author) (?:say|state|mention|describe|explain|tell|suggest|claim|discuss|list|give)`),
    phrase(`(?:in|of|from|by) this ${texts.en}`),
    phrase(`(?:the|this)? ?${given.en} ${texts.en}`),
    phrase('(?:chunk|passage|excerpt|snippet|text|document|paragraph) (?:above|below)'),
    phrase('(?:mentioned|described|stated|given|listed|shown|discussed) (?:above|below|here)'),
    phrase(`(?:laut|gemäß)(?: de[mrs]| diese[mrs])?(?: ${given.de})? ${texts.de}`),
    phrase(`in diese[mr] ${texts.de}|im (?:obigen|vorliegenden|folgenden) (?:text|abschnitt|auszug|absatz|dokument)`),
    phrase('(?:oben|unten|hier) (?:genannte?[nmrs]?|beschriebene?[nmrs]?|erwähnte?[nmrs]?|angegebene?[nmrs]?)'),
    phrase(`(?:selon|d'après) (?:l[ea] |ce(?:t|tte)? |l')${texts.fr}|(?:dans|de) ce(?:t|tte)? ${texts.fr.replace('<word>', '<words>')}`),
    phrase('(?:mentionnée?s?|décrite?s?|indiquée?s?) (?:ci-dessus|ci-dessous|plus haut)'),
    phrase(`según (?:el|la|est[ea]) ${texts.es}|(?:en|de) est[ea] ${texts.es.replace('<word>', '<words>')}`),
    phrase('(?:mencionad|descrit|indicad)[oa]s? (?:arriba|abajo|anteriormente)'),
  ],
}
