import { createHmac } from 'node:crypto'
import { InvalidInputError } from '../../domain/errors.ts'

type Signed = { readonly id: string; readonly timestamp: number; readonly body: string }

/** Makes the `webhook-signature` of Standard Webhooks, version 1. Raises `InvalidInputError`, without the secret. */
export const webhookSigner = (secret: string): ((signed: Signed) => string) => {
  const key = keyOf(secret)
  return ({ id, timestamp, body }) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

const prefix = 'whsec_'

const keyOf = (secret: string): Uint8Array => {
  if (!secret.startsWith(prefix)) return Buffer.from(secret)
  const encoded = secret.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  // Node reads anything as base64: only what it writes again was.
  if (key.length === 0 || key.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) {
    throw new InvalidInputError(`the secret of the webhook begins with ${prefix} but does not go on in base64`)
  }
  return key
}
