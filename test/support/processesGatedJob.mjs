// A job whose every step can be held by a file, so that a test knows what its worker is doing: before each call,
// checkpoint and end of stage it says `reached <step>` on standard error, and goes on once no file `<step>.hold` is
// in its folder.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

const Input = z.strictObject({
  folder: z.string(),
  calls: z.int().nonnegative(),
  /** About so many bytes each, and no two jobs the same. */
  checkpointBytes: z.int().nonnegative(),
})

const reach = async (folder, step) => {
  process.stderr.write(`reached ${step}\n`)
  while (existsSync(join(folder, `${step}.hold`))) await sleep(5)
}

export default {
  type: 'gated',
  version: 1,
  input: Input,
  stages: [
    {
      name: 'work',
      run: async (context) => {
        const { folder, calls, checkpointBytes } = context.input
        for (let step = 0; step < calls; step += 1) {
          const key = `step-${step}`
          if ((await context.checkpointed(key)) !== null) continue
          await reach(folder, `call-${step}`)
          const answer = await context.call({ key, messages: [{ role: 'user', content: `Step ${step}, please.` }] })
          await reach(folder, `checkpoint-${step}`)
          await context.checkpoint(key, { text: answer.text, filling: context.jobId.repeat(checkpointBytes / 32) })
        }
        await reach(folder, 'stage-end')
        return { calls }
      },
    },
    { name: 'close', run: () => Promise.resolve({ closed: true }) },
  ],
}
