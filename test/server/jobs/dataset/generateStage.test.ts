import { beforeEach, describe, expect, test } from 'vitest'
import { offlineAnswer } from '../../../../adapters/providers/offlineAnswer.ts'
import { PolicyBlockError, ProviderError } from '../../../../domain/errors.ts'
import { Interrupted } from '../../../../server/defineJob.ts'
import { mediaTypes, type DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { generate, type GeneratedChunk } from '../../../../server/jobs/dataset/generateStage.ts'
import type { PlanResult } from '../../../../server/jobs/dataset/stageResults.ts'
import { stageContext, stageLog, stored, type StageLog, type StageOptions } from '../../../support/stageContext.ts'

const sentences = ['The gate opens at six.', 'The quay is deep.', 'The tide is high at noon.', 'The crane lifts ten tonnes.']
const text = sentences.join(' ')
const ids = sentences.map((_, nth) => `0-${nth}`)

let log: StageLog
beforeEach(() => {
  log = stageLog()
  const bytes = (content: string): Uint8Array => new TextEncoder().encode(content)
  const document = {
    ...{ name: 'a.txt', mediaType: mediaTypes.text, license: null, source: '0'.repeat(64) },
    text: stored(log, bytes(text), 'text/plain'),
    structure: stored(log, bytes(JSON.stringify({ blocks: [{ kind: 'paragraph', start: 0, end: text.length }], pages: [] })), 'application/json'),
    ...{ characters: text.length, pages: 0, notes: [] },
  }
  const chunks = sentences.map((sentence, nth) => {
    const start = text.indexOf(sentence)
    return { id: `0-${nth}`, document: 0, start, end: start + sentence.length, tokens: 20, headings: [] }
  })
  const plan: PlanResult = { target: 4, seed: 1, planned: chunks.map((chunk) => ({ chunk, families: ['summary'] })) }
  log.results.set('parse', { documents: [document] })
  log.results.set('chunk', { chunks, quarantined: [], texts: [] })
  log.results.set('plan', plan)
})

const offline: NonNullable<StageOptions<DatasetInput>['answer']> = ({ messages, maxOutputTokens = 500 }) =>
  offlineAnswer({ model: 'm', messages, maxOutputTokens })

const claim = (over: Partial<StageOptions<DatasetInput>> = {}) =>
  stageContext<DatasetInput, GeneratedChunk>('generate', { input: { documents: [], licenseFiles: [] }, log, answer: offline, ...over })

/** As the log of the fake context knows it. */
const named = (id: string): string => ['generate', id].join('\0')

const refused = (over: Partial<ConstructorParameters<typeof ProviderError>[0]> = {}): ProviderError =>
  new ProviderError({ code: 'provider_refused', message: 'no', kind: 'invalid_input', billed: 'no', ...over })

/** Raises for these chunks, and answers for the others. */
const failingFor = (failing: readonly string[], error: Error = refused()): typeof offline => (call, sent) => {
  if (failing.includes(call.key)) throw error
  return offline(call, sent)
}

describe('the generate stage', () => {
  test('asks once for each chunk, about its own text, and answers in the order of the plan', async () => {
    const { context, sent, progress } = claim()
    const { answers, answered, failed } = await generate(context)
    expect(sent.map(({ key }) => key)).toEqual(ids)
    expect(sent[1]).toMatchObject({ seed: 1, examples: 1, messages: [{ role: 'system' }, { content: expect.stringContaining(`\n${sentences[1]}\n</chunk>`) }] })
    expect({ answered, failed }).toEqual({ answered: 4, failed: 0 })
    expect(answers.map((answer) => ('text' in answer ? answer.text : ''))).toEqual(sentences.map((sentence) => expect.stringContaining(sentence)))
    expect(progress.at(-1)).toEqual({ done: 4, total: 4, unit: 'chunks' })
  })

  test('records the examples of a chunk and then its answer', async () => {
    const { context } = claim()
    await generate(context)
    expect([...log.accepted.keys()]).toEqual(ids.map(named))
    expect(log.accepted.get(named('0-0'))).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(log.checkpoints.get(named('0-0'))).toEqual({ callId: expect.any(String), text: expect.any(String), finishReason: 'stop' })
  })

  test('counts no more examples than were asked for, and none of an answer that is no JSON', async () => {
    const { context } = claim({
      answer: ({ key }) => ({ text: key === '0-1' ? 'Sorry {no} examples.' : `Here: {"examples":[{"a":1},{"a":2}]}\n` }),
    })
    await generate(context)
    expect([...log.accepted.values()].map((each) => (each as unknown[]).length)).toEqual([1, 1, 1])
  })

  test('does not ask again for a chunk that has a checkpoint', async () => {
    await expect(generate(claim({ sendsMax: 2 }).context)).rejects.toThrow(Interrupted)
    const { context, sent } = claim()
    const resumed = await generate(context)
    expect(sent.map(({ key }) => key)).toEqual(ids.slice(2))
    log = { ...log, checkpoints: new Map(), answers: new Map() }
    expect(resumed).toEqual(await generate(claim().context))
  })

  test('goes on without a chunk that fails for good', async () => {
    const { context } = claim({ answer: failingFor(['0-2'], new PolicyBlockError('content_filter', 'not that')) })
    expect(await generate(context)).toMatchObject({
      answers: [{}, {}, { error: { code: 'content_filter', message: 'not that' } }, {}],
      answered: 3,
      failed: 1,
    })
    expect(log.checkpoints.get(named('0-2'))).toMatchObject({ error: { code: 'content_filter' }, kind: 'policy_block' })
  })

  test('fails the attempt for what holds for the account, and for what another try may mend', async () => {
    for (const error of [refused({ code: 'provider_auth' }), refused({ code: 'provider_quota' }), refused({ code: 'timeout', kind: 'transient' })]) {
      await expect(generate(claim({ answer: failingFor(['0-0'], error) }).context)).rejects.toBe(error)
    }
    const last = claim({ answer: failingFor(['0-0'], refused({ code: 'timeout', kind: 'transient' })), lastAttempt: true })
    expect(await generate(last.context)).toMatchObject({ answered: 3, failed: 1 })
  })

  test('fails where every chunk did, naming the first, and asks for all again in another attempt', async () => {
    const first = claim({ answer: failingFor(ids) })
    await expect(generate(first.context)).rejects.toThrow('none of 4 chunks has an answer: "chunk 0-0 of " failed with no')
    const second = claim()
    expect(await generate(second.context)).toMatchObject({ answered: 4 })
    expect(second.sent).toHaveLength(4)
  })
})
