import { z } from 'zod'
import { defineJob } from '../../server/defineJob.ts'

// region job
export const translate = defineJob({
  type: 'translate',
  version: 1,
  input: z.strictObject({ texts: z.array(z.string()), into: z.string() }),
  stages: [
    {
      name: 'translate',
      async run(ctx) {
        await ctx.each(ctx.input.texts, async (text, index) => {
          const answer = await ctx.call({
            key: `text ${index}`,
            messages: [{ role: 'user', content: `Translate into ${ctx.input.into}: ${text}` }],
          })
          await ctx.checkpoint(`text ${index}`, answer.text)
        })
        return { texts: ctx.input.texts.length }
      },
    },
    // region stage
    {
      name: 'collect',
      async run(ctx) {
        const { texts } = z.object({ texts: z.number() }).parse(await ctx.result('translate'))
        await ctx.log('info', `${texts} texts were translated`)
        return { texts }
      },
    },
    // endregion stage
  ],
})
// endregion job
