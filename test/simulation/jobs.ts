import { z } from 'zod'
import { ProviderError } from '../../domain/errors.ts'
import { defineJob, type JobDefinition } from '../../server/defineJob.ts'
import { batchJob } from '../../server/jobs/batch/batchJob.ts'
import type { Faults } from './faults.ts'

export const EssayInput = z.strictObject({ topic: z.string(), parts: z.int().positive() })
export type EssayInput = z.infer<typeof EssayInput>

export const maxOutputTokens = 40
export const essayPrompt = (topic: string, part: number): string => `Write part ${part} about ${topic}, please.`
const outlinePrompt = (topic: string): string => `Outline ${topic}.`

/** A job with all that a stage can do: checkpoints, equal calls at one time, examples, results of earlier stages. */
const essayJob = (faults: Faults): JobDefinition<EssayInput> =>
  defineJob({
    type: 'essay',
    version: 1,
    input: EssayInput,
    stages: [
      {
        name: 'outline',
        async run(context) {
          const { topic, parts } = context.input
          const outline = await context.call({
            key: 'outline',
            messages: [{ role: 'user', content: outlinePrompt(topic) }],
            maxOutputTokens,
          })
          for (let part = 1; part <= parts; part += 1) {
            // Whether it is there already need not be asked: a known key records nothing.
            const known = part % 2 === 0 ? await context.checkpointed(`part-${part}`) : null
            if (known === null) await context.checkpoint(`part-${part}`, { part })
            context.progress({ done: part, total: parts, unit: 'parts' })
          }
          return { outline: outline.text }
        },
      },
      {
        name: 'write',
        async run(context) {
          const { topic, parts } = context.input
          const texts: string[] = []
          const numbers = Array.from({ length: parts }, (_, index) => index + 1)
          await context.each(numbers, async (part, index) => {
            const ask = () =>
              context.call({
                key: `part-${part}`,
                messages: [{ role: 'user', content: essayPrompt(topic, part) }],
                maxOutputTokens,
                examples: 1,
              })
            const [answer, same] = await Promise.all([ask(), ask()])
            if (answer.text !== same.text) throw new Error('two equal calls have two answers')
            await context.accept(`part-${part}`, [answer.text])
            texts[index] = answer.text
          })
          return { texts }
        },
      },
      {
        name: 'review',
        async run(context) {
          await context.log('info', 'reviewing')
          if (faults.hits('stageBreaks')) throw new Error('the stage broke (simulated)')
          if (faults.hits('stageFails')) {
            throw new ProviderError({ code: 'tired', message: 'tired (simulated)', kind: 'transient', billed: 'no' })
          }
          return context.result('write')
        },
      },
    ],
  })

export const definitions = (faults: Faults): readonly JobDefinition[] => [batchJob, essayJob(faults)]
