import rateLimit from '@fastify/rate-limit'
import { EngineError } from '../../domain/errors.ts'
import type { HttpApp } from './httpApp.ts'

/** Counts the requests of each token, and those of each address that has no valid one. */
export const limitRequests = async (app: HttpApp, requestsPerMinute: number): Promise<void> => {
  await app.register(rateLimit, {
    global: false,
    max: requestsPerMinute,
    timeWindow: 60_000,
    // Whoever is at this machine, where there are no tokens.
    allowList: ({ grant, token }) => grant !== null && token === null,
    // A token that was never valid is the guess of its address.
    keyGenerator: ({ grant, token, ip }) => (grant === null || token === null ? `address ${ip}` : `token ${token}`),
    errorResponseBuilder: (_, { after, max }) =>
      new EngineError('rate_limited', `more than ${max} requests a minute: ask again in ${after}`, { requestsPerMinute: max }),
  })
  // Of every address, also of those where nothing is: a guess there is a guess.
  app.addHook('onRequest', app.rateLimit())
}
