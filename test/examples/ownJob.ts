// region job
import { z } from 'zod'
import { ArtifactRef, defineJob } from '../../server/library.ts'

const Texts = z.strictObject({ texts: z.array(z.string()).min(1) })
const Collected = z.strictObject({ texts: z.int(), file: ArtifactRef })

export default defineJob({
  type: 'translate',
  version: 1,
  input: z.strictObject({ texts: z.array(z.string()), into: z.string() }),
  stages: [
    // region stage
    {
      name: 'sift',
      async run(ctx) {
        const texts = [...new Set(ctx.input.texts.filter((text) => text.trim() !== ''))]
        await ctx.log('info', `${ctx.input.texts.length - texts.length} texts are empty, or stand there twice`)
        return { texts }
      },
    },
    // endregion stage
    {
      name: 'translate',
      checkpoint: z.string(),
      async run(ctx) {
        const { texts } = await ctx.result('sift', Texts)
        const translated = [...texts]
        await ctx.each(texts, async (text, index) => {
          const key = `text ${index}`
          const order = `Translate into ${ctx.input.into}: ${text}`
          const known = await ctx.checkpointed(key)
          translated[index] = known?.value ?? (await ctx.call({ key, messages: [{ role: 'user', content: order }] })).text
          await ctx.checkpoint(key, translated[index])
        })
        return { texts: translated }
      },
    },
    {
      name: 'collect',
      async run(ctx) {
        const { texts } = await ctx.result('translate', Texts)
        const file = await ctx.putArtifact(new TextEncoder().encode(texts.join('\n')), 'text/plain')
        return { texts: texts.length, file }
      },
    },
  ],
  files: (output) => [{ path: 'translations.txt', ref: Collected.parse(output).file }],
})
// endregion job
