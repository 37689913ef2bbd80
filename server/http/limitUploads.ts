import { EngineError } from '../../domain/errors.ts'
import type { HttpApp } from './httpApp.ts'
import { grantOf } from './guard.ts'

/**
 * Keeps the bodies that are received at one time within so many bytes, and refuses those who may not send any before the
 * first byte. One whose length is not told counts as the longest there may be.
 */
export const limitUploads = (app: HttpApp, { bytesMax, bodyBytesMax }: { readonly bytesMax: number; readonly bodyBytesMax: number }): void => {
  let receiving = 0
  app.addHook('preParsing', async (request, reply) => {
    if (grantOf(request).role === 'read') throw new EngineError('forbidden', 'a token to read stores no files', { needed: 'operate' })
    const told = request.headers['content-length']
    const bytes = Math.min(told === undefined ? bodyBytesMax : Number(told), bodyBytesMax)
    if (receiving > 0 && receiving + bytes > bytesMax) {
      throw new EngineError('busy', `files of ${receiving} bytes are being received: send this one in a while`, { bytesMax })
    }
    receiving += bytes
    reply.raw.once('close', () => (receiving -= bytes))
  })
}
