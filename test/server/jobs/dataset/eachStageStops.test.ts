import { afterEach, expect, test } from 'vitest'
import type { Submission } from '../../../../server/engine.ts'
import { startScriptedProvider } from '../../../support/scriptedProvider/startScriptedProvider.ts'
import { workplaceOn } from '../../../support/workplaceOn.ts'
import { madePdf } from './documents/madeDocuments.ts'

/** For each stage a document or a setting that only it stops, with what it says. */

const prose = (about: string): string =>
  ['stone', 'wood', 'rope', 'salt', 'iron', 'glass', 'wool', 'clay']
    .map((thing, nth) => `The ${thing} of the ${about} was brought there ${nth + 2} years ago by people who knew its worth well.`)
    .join(' ')
const text = (name: string, content: string | Uint8Array) => ({
  name,
  content: typeof content === 'string' ? new TextEncoder().encode(content) : content,
})
const good = text('good.md', `# The harbour\n\n${prose('harbour')}\n`)
const again = (count: number): string => Array.from({ length: count }, () => prose('harbour')).join('\n\n# Again\n\n')
const short = ['Ice melts now.', 'Fog hides it.', 'Rain falls in.', 'Salt eats tin.', 'Wind bends it.', 'Sun dries all.'].join(' ')

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

const ended = async (over: Partial<Submission>) => {
  const place = await workplaceOn('memory:')
  cleanups.push(place.close)
  const { jobId } = await place.engine.submit({
    type: 'dataset',
    files: [good],
    provider: { name: 'offline' },
    model: 'offline-small',
    maxAttempts: 1,
    ...over,
  })
  await place.work({ only: jobId })
  const { state, stage, errorCode, errorSummary } = await place.engine.status(jobId)
  return { state, stage, errorCode, errorSummary }
}

test('the document that all of these begin with is stopped by none', async () => {
  expect(await ended({})).toMatchObject({ state: 'succeeded', errorSummary: null })
})

const invalid = 'invalid_input'
test.each<[stage: string, of: string, code: string, says: RegExp, over: () => Promise<Partial<Submission>> | Partial<Submission>]>([
  ['intake', 'a document marked confidential', 'policy_block', /^secret\.md:1: the document is marked confidential/, () => ({ files: [good, text('secret.md', 'CONFIDENTIAL\n\nA plan.')] })],
  ['intake', 'a license that forbids it', 'policy_block', /good\.md.*CC-BY-ND-4\.0/i, () => ({ parameters: { license: 'CC-BY-ND-4.0' } })],
  ['parse', 'a scanned PDF', invalid, /scan\.pdf.*page 1/i, async () => ({ files: [good, text('scan.pdf', await madePdf(() => {}))] })],
  ['chunk', 'a document of which nothing can be asked', invalid, /few\.txt/, () => ({ files: [text('few.txt', 'Only this.')] })],
  [
    'chunk',
    'personal data where it blocks',
    'policy_block',
    /mail\.md.*e-mail/i,
    () => ({ files: [text('mail.md', `${prose('house')} Write to jane.roe@skerry-trust.org about it.`)], parameters: { privacy: 'block' } }),
  ],
  ['plan', 'a target beyond what there is', invalid, /^50 examples cannot be planned: 1 chunks? in 4 families .* 4 at most/, () => ({ target: 50 })],
  ['plan', 'a test set of one document', invalid, /testShare 0\.2 needs two documents.*good\.md/, () => ({ parameters: { testShare: 0.2 } })],
  ['generate', 'a document that the provider refuses', 'policy_block', /^"chunk 0-0 of good\.md" failed with .*may not be answered/, refusing],
  ['validate', 'answers that are cut', invalid, /good\.md/, () => ({ parameters: { maxOutputTokens: 12 } })],
  [
    'quality',
    'answers that say too little',
    invalid,
    /answer_too_short.*short\.txt/,
    () => ({ files: [text('short.txt', short)], parameters: { families: ['definition'] } }),
  ],
  [
    'dedup_balance',
    'a document that repeats itself',
    invalid,
    /examples repeat another, most because again\.md repeats itself/,
    () => ({ files: [text('again.md', again(40))], parameters: { chunkTokens: 64, families: ['summary'] }, target: null as never }),
  ],
  ['version', 'another version than was expected', invalid, /came to version [0-9a-f]{64}, and expectVersion is 0{64}/, () => ({ parameters: { expectVersion: '0'.repeat(64) } })],
  [
    'export',
    'a test set where two documents say the same',
    invalid,
    /testShare 0\.5 needs examples of two documents/,
    () => ({ files: [good, { ...good, name: 'copy.md' }], parameters: { testShare: 0.5 } }),
  ],
])('%s alone stops %s', async (stage, _, code, says, over) => {
  const { errorSummary, ...outcome } = await ended(await over())
  expect(outcome, errorSummary ?? '').toEqual({ state: 'failed', stage, errorCode: code })
  expect(errorSummary).toMatch(says)
})

async function refusing(): Promise<Partial<Submission>> {
  const json = { error: { code: 'content_policy_violation', message: 'this may not be answered' } }
  const provider = await startScriptedProvider({ default: { status: 400, body: { json } } })
  cleanups.push(provider.close)
  return { provider: { name: 'openai', baseUrl: provider.baseUrl }, model: 'scripted', allowUnpriced: ['scripted'] }
}
