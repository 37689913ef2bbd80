import type { DatasetParameters } from './datasetParameters.ts'
import type { Outcome } from './outcome.ts'
import { tally } from './tally.ts'

type About = {
  readonly version: string
  readonly model: string | null
  readonly parameters: DatasetParameters
}

/** The dataset as people and hubs read it: front matter for machines, then what is in it and how it came to be. */
export const datasetCard = (outcome: Outcome, about: About): string =>
  [frontMatter(outcome), opening(about), counts(outcome), leftOut(outcome), documents(outcome), making(about), checking].join('\n')

const frontMatter = ({ documents: all, examples }: Outcome): string => {
  const licenses = [...new Set(all.map(({ license }) => license ?? 'unknown'))].toSorted()
  return [
    '---',
    'pretty_name: Examples from documents',
    'license: other',
    `license_name: ${JSON.stringify(licenses.join(', '))}`,
    'task_categories:',
    '- question-answering',
    '- text-generation',
    'size_categories:',
    `- ${sizeOf(examples.length)}`,
    'configs:',
    '- config_name: default',
    '  data_files:',
    ...(['train', 'test'] as const)
      .filter((wanted) => examples.some(({ split }) => split === wanted))
      .flatMap((wanted) => [`  - split: ${wanted}`, `    path: ${wanted}.jsonl`]),
    '---',
    '',
  ].join('\n')
}

/** In the words that dataset hubs use. */
const sizeOf = (examples: number): string => {
  if (examples < 1_000) return 'n<1K'
  if (examples < 10_000) return '1K<n<10K'
  return examples < 100_000 ? '10K<n<100K' : '100K<n<1M'
}

const opening = ({ version, model }: About): string =>
  `# Examples from documents

Questions and answers about documents, each with the words of its source that it stands on. They were written by the model
\`${plain(model ?? 'unknown')}\` from passages of the documents, and sifted by rules. Nobody has read them all.

Version \`${version}\`: the SHA-256 of \`manifest.json\`.

Each line of \`train.jsonl\` and \`test.jsonl\` has \`messages\` in chat format, and where it comes from: \`quote\` is the slice
from \`start\` to \`end\` (UTF-16 offsets) of \`sources/<sourceSpan.text>.txt\`, which is the text of the original whose SHA-256 is
\`sourceSpan.source\`. \`callId\` names the call that brought it, in the ledger of the job that made the dataset.
`

const counts = ({ documents: all, chunks, planned, examples, quarantined }: Outcome): string =>
  `## How many

| what | count |
|---|---|
${rows([
  ['documents', all.length],
  ['chunks of them', chunks],
  ['examples asked for', planned],
  ['examples in the dataset', examples.length],
  ['of these for training', examples.filter(({ split }) => split === 'train').length],
  ['of these for testing', examples.filter(({ split }) => split === 'test').length],
  ['left out', quarantined.length],
])}

| family | examples |
|---|---|
${rows(Object.entries(tally(examples.map(({ example }) => example.family))))}
`

const leftOut = ({ quarantined }: Outcome): string =>
  quarantined.length === 0
    ? ''
    : `## What was left out

\`quarantine.jsonl\` has a line for each, with its reason in words.

| stage | reason | count |
|---|---|---|
${Object.entries(tally(quarantined.map(({ stage, reason }) => `${stage} | ${plain(reason)}`)))
  .map(([name, count]) => `| ${name} | ${count} |`)
  .join('\n')}
`

const documents = ({ documents: all, examples }: Outcome): string => {
  const counted = new Map(Object.entries(tally(examples.map(({ document }) => document.name))))
  const splits = new Map(examples.map(({ document, split }) => [document.name, split]))
  return `## Documents

| document | license | examples | split |
|---|---|---|---|
${all
  .map(({ name, license }) => `| ${plain(name)} | ${plain(license ?? 'not declared')} | ${counted.get(name) ?? 0} | ${splits.get(name) ?? ''} |`)
  .join('\n')}
`
}

const personalData: Readonly<Record<DatasetParameters['privacy'], string>> = {
  block: 'A document with an e-mail address, telephone, card or identity number would have failed the job.',
  quarantine:
    'Passages with an e-mail address, telephone, card or identity number were left out, and the numbers are masked with █ in the texts.',
  allow: 'E-mail addresses, telephone, card and identity numbers were not looked for.',
}

const making = ({ parameters }: About): string =>
  `## How it was made

Documents were read as text, cut along their headings into chunks of at most ${parameters.chunkTokens} tokens, and planned over with seed
${parameters.seed}. An answer counts only with a quote that stands in its chunk, and without numbers that do not. What repeats another
was left out, and no family has more than one and a half times its even share. Training and test examples are of different
documents. ${personalData[parameters.privacy]}
`

const checking = `## How to check it

\`\`\`sh
sha256sum --check SHA256SUMS
\`\`\`
`

const rows = (pairs: readonly (readonly [string, number])[]): string => pairs.map(([name, count]) => `| ${name} | ${count} |`).join('\n')

/** Names come from documents: they must not end a cell, or the line. */
const plain = (text: string): string => text.replace(/[\s|`<>]+/g, ' ').trim()
