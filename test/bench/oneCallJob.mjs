import { z } from 'zod'
import { defineJob } from '../../dist/server/library.js'

export default defineJob({
  type: 'oneCall',
  version: 1,
  input: z.unknown(),
  stages: [
    {
      name: 'ask',
      run: async (ctx) => (await ctx.call({ key: 'one', messages: [{ role: 'user', content: 'Say one word.' }] })).text,
    },
  ],
})
