import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Grant } from '../access.ts'
import type { Asker, Engine } from '../engine.ts'

/** The application that routes are added to. Their zod schemas are checks, types and documentation in one. */
export type HttpApp = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

/**
 * Who may call a route: whoever has a token (`token`, the default); everybody (`nobody` is asked); or whoever the route
 * itself lets in (`own`), for those that refuse in words of their own.
 */
type Guard = 'token' | 'nobody' | 'own'

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard
  }
  interface FastifyRequest {
    /** Who asks; null where no valid token came along. */
    grant: Grant | null
    /** As it came along, valid or not. */
    token: string | null
  }
}

/** What routes stand on. */
export type RouteParts = {
  /** The engine as whoever asks may use it. Raises `unauthenticated` where nobody may. */
  engineOf(request: FastifyRequest): Engine
  /** Of a command: its repeat is known by `Idempotency-Key`. Who asks is said by the engine itself. */
  askerOf(request: FastifyRequest): Asker
  /** Aborts when the server stops: whatever stays open ends then. */
  readonly closing: AbortSignal
}

/** Adds routes. */
export type Routes = (app: HttpApp, parts: RouteParts) => void | Promise<void>
