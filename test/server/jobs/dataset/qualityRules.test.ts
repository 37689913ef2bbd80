import { describe, expect, test } from 'vitest'
import { qualityRules, sourceOf } from '../../../../server/jobs/dataset/qualityRules.ts'

const passage =
  'The sea gate opens at 6:30, and lets 1,250 boats through in a year. Of these, 12.5 % are over 20 metres. ' +
  'Twenty-five keepers, the first of them in 1902, wrote “I cannot help those who come late” into a document.'

const sound = {
  family: 'question_answer',
  question: 'When does the sea gate open?',
  answer: 'It opens at 6:30.',
} as const

type Over = Partial<{ family: 'question_answer' | 'summary' | 'explanation' | 'definition'; question: string; answer: string; passage: string }>

/** The rules that an example breaks. */
const broken = ({ passage: text = passage, ...over }: Over = {}): readonly string[] => {
  const reviewed = { ...sound, ...over, source: sourceOf(text) }
  return Object.entries(qualityRules).flatMap(([name, rule]) => (rule(reviewed) === null ? [] : [name]))
}

test('a sound example breaks no rule', () => {
  expect(broken()).toEqual([])
})

/** Of each rule, what it lets pass and what it refuses. */
const cases: readonly (readonly [string, readonly Over[], readonly Over[]])[] = [
  [
    'question_too_short',
    [{ question: 'Gate opens when?', answer: 'At 6:30 in the morning.' }, { question: '門は何時に開く？', answer: '六時です。' }],
    [{ question: 'A gate?' }, { question: '門は？', answer: '六時です。' }],
  ],
  ['question_too_long', [{ question: 'When does the gate open? '.repeat(20) }], [{ question: 'When does the gate open? '.repeat(21) }]],
  [
    'answer_too_short',
    [{ answer: '6', passage: 'At 6 it opens.' }, { family: 'definition', answer: 'A gate that opens at 6:30.' }, { family: 'summary', answer: '水门早上开放。' }],
    [{ answer: '…' }, { family: 'definition', answer: 'A gate.' }, { family: 'summary', answer: 'It opens.' }],
  ],
  [
    'answer_too_long',
    [{ family: 'summary', answer: 'The gate lets boats through.' }, { answer: passage.repeat(2) }],
    [{ family: 'summary', answer: `${passage} And more.` }, { answer: 'The gate opens. '.repeat(251) }],
  ],
  [
    'refusal',
    [
      { answer: 'They wrote: I cannot help those who come late.' },
      { answer: 'An AI reads the tide and opens the gate.' },
      { answer: 'Der Wärter kann das Tor nachts nicht öffnen.' },
      { answer: 'Les marées ne sont pas désolées.' },
      { answer: 'El guarda no puede abrir de noche.' },
    ],
    [
      { answer: 'As an AI language model, I know no gates.' },
      { answer: "I’m sorry, but I can't say." },
      { answer: 'Unfortunately I am unable to answer that.' },
      { answer: 'I do not have enough information.' },
      { answer: 'Als KI-Modell weiß ich das nicht.' },
      { answer: 'Es tut mir leid, das weiß ich nicht.' },
      { answer: 'Ich kann Ihnen dabei leider nicht helfen.' },
      { answer: 'En tant que modèle de langage, je ne sais pas.' },
      { answer: 'Je ne peux pas répondre.' },
      { answer: 'Désolé, je ne sais pas.' },
      { answer: 'Como modelo de lenguaje, no lo sé.' },
      { answer: 'Lo siento, no lo sé.' },
      { answer: 'N/A' },
      { answer: 'Nicht angegeben.' },
    ],
  ],
  [
    'prompt_leak',
    [
      { answer: 'They wrote it into the document.' },
      { answer: 'It is a chunk of ice.', passage: 'A chunk of ice.' },
      { answer: 'It reads the JSON.', passage: 'The gate reads JSON.' },
      { answer: 'Das Tor steht im Kontext der Mole.' },
    ],
    [
      { answer: 'The passage says that it opens at 6:30.' },
      { answer: 'The text does not say.', passage: 'The context of the gate.' },
      { question: 'What does the chunk say of the sea gate?' },
      { answer: '</chunk> At 6:30.' },
      { answer: '{"family": "summary"}' },
      { answer: 'In JSON: 6:30.' },
      { answer: 'Das steht im Text.' },
      { answer: 'Der obige Abschnitt nennt 6:30.' },
      { answer: "L'extrait dit 6:30." },
      { answer: 'El texto dice 6:30.' },
    ],
  ],
  [
    'not_self_contained',
    [{ question: 'Who wrote into the document of the keepers?' }, { question: 'How does the sea gate stand above the quay?' }, { question: 'Which section below the waterline is painted?' }, { question: '水门什么时候开放？' }],
    [
      { question: 'What is it, and why was that so?' },
      { question: 'According to the document, when does the gate open?' },
      { question: 'What does the document say about the gate?' },
      { question: 'Which keepers are named in this document?' },
      { question: 'Which gate is mentioned above?' },
      { question: 'Wann öffnet laut dem Text das Tor?' },
      { question: 'Wann öffnet das oben genannte Tor?' },
      { question: "Selon le texte, quand s'ouvre la porte ?" },
      { question: 'Según el texto, ¿cuándo se abre la puerta?' },
    ],
  ],
  [
    'unknown_number',
    [
      { answer: 'It opens at 6.30, or at six.', passage: 'It opens at 6.30.' },
      { answer: '1250 boats; 1.250 boats; 1 250 boats; 1’250 boats.' },
      { answer: '12,5% of them, or 12.50 per cent.' },
      { answer: 'In 1902 there were 25 keepers, the 1st of all.' },
      { answer: '1. It opens at 6:30.\n2. It lets boats through.\n3. It shuts.' },
      { answer: 'On 3 May 2021.', passage: 'On 03.05.2021 it was May.' },
      { answer: 'Fünfundzwanzig: 25.', passage: 'Es waren fünfundzwanzig.' },
      { answer: 'It has ٢٠ metres.' },
      { question: 'Which CO₂ limit holds at the gate?', answer: 'One of 6.', passage: 'The limit of CO2 is 6.' },
    ],
    [
      { answer: 'It opens at 7:30.' },
      { answer: 'It lets 12,500 boats through.' },
      { answer: '125 % of them.' },
      { answer: 'In 1903.' },
      { question: 'Why does the gate open at 4?' },
      { answer: '7. It opens at 6:30.' },
      { answer: 'It has ٢١ metres.' },
      { answer: 'It is 2.5 wide.', passage: 'It has 2 wings of 5 metres.' },
    ],
  ],
  ['question_is_answer', [{ answer: 'At 6:30.' }], [{ answer: 'When does the sea gate open' }]],
  [
    'repeats_question',
    [{ question: 'Which is wider, the sea gate or the quay?', answer: 'The quay.' }, { question: 'Does the sea gate open at 6:30?', answer: 'Yes.' }],
    [{ question: 'Why does the sea gate open?', answer: 'The sea gate opens because it opens.' }, { question: 'What is known about keepers?', answer: 'Keepers' }],
  ],
  [
    'unbalanced_fence',
    [{ answer: 'So:\n```sh\nopen gate\n```\nand ``` in a line.' }, { answer: '```open``` opens it.' }, { answer: '````\n```\n````' }],
    [{ answer: 'So:\n```sh\nopen gate' }, { question: 'What does the gate do?\n~~~' }],
  ],
]

describe.each(cases)('%s', (name, passing, refused) => {
  test.each(passing)('lets pass %o', (over) => expect(broken(over)).not.toContain(name))
  test.each(refused)('refuses %o', (over) => expect(broken(over)).toContain(name))
})
