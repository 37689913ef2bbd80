import { setTimeout as sleep } from 'node:timers/promises'

/** What is sent for a behaviour, and whether its provider would bill it. */
export const answerOf = (behaviour, asked) => {
  const redirect = behaviour.redirect === undefined ? {} : { location: behaviour.redirect }
  const status = behaviour.status ?? (behaviour.redirect === undefined ? 200 : 307)
  return {
    status,
    headers: { 'content-type': 'application/json', ...redirect, ...filledHeaders(behaviour.headers ?? {}, asked) },
    body: bodyOf(behaviour, status, asked),
    billed: behaviour.billed ?? status < 300,
    cut: behaviour.cut,
    trickle: behaviour.trickle,
  }
}

const bodyOf = (behaviour, status, asked) => {
  const { body } = behaviour
  if (body?.raw !== undefined) return Buffer.from(filled(body.raw, asked))
  if (body?.base64 !== undefined) return Buffer.from(body.base64, 'base64')
  if (body?.json !== undefined)
    return Buffer.from(filled(JSON.stringify(body.json), asked, (value) => JSON.stringify(value).slice(1, -1)))
  if (body?.size !== undefined) return answerOfSize(body.size, behaviour, asked)
  if (status >= 300) return Buffer.from(JSON.stringify({ error: { message: `scripted ${status}` } }))
  const text = filled(behaviour.text ?? 'An answer to: {{prompt}}', asked)
  return Buffer.from(JSON.stringify(answerWith(text, behaviour, asked)))
}

/** In the protocol of the place that was asked. */
const answerWith = (text, behaviour, asked) =>
  asked.speaksMessages ? message(text, behaviour, asked) : completion(text, behaviour, asked)

const message = (text, behaviour, { call, question }) => ({
  id: `msg_${call.id}`,
  type: 'message',
  role: 'assistant',
  model: question.model,
  content: [{ type: 'text', text }],
  stop_reason: behaviour.finishReason ?? 'end_turn',
  ...(behaviour.usage === null ? {} : { usage: behaviour.usage ?? { input_tokens: 10, output_tokens: 5 } }),
})

const completion = (text, behaviour, { call, question }) => ({
  id: `chatcmpl-${call.id}`,
  object: 'chat.completion',
  model: question.model,
  choices: Array.from({ length: question.n ?? 1 }, (_, index) => ({
    index,
    message: { role: 'assistant', content: text },
    finish_reason: behaviour.finishReason ?? 'stop',
  })),
  ...(behaviour.usage === null ? {} : { usage: behaviour.usage ?? { prompt_tokens: 10, completion_tokens: 5 } }),
})

/** The whole body is exactly `size` bytes long. */
const answerOfSize = (size, behaviour, asked) => {
  const empty = Buffer.byteLength(JSON.stringify(answerWith('', behaviour, asked)))
  return Buffer.from(JSON.stringify(answerWith('x'.repeat(size - empty), behaviour, asked)))
}

/**
 * `{{prompt}}`, `{{key}}`, `{{call}}`, `{{authorization}}`, and `{{httpDate+3000}}`: an HTTP date that many
 * milliseconds from now. Inside JSON the values are escaped as JSON.
 */
const filled = (template, { call, prompt, authorization }, escaped = (value) => value) =>
  template.replace(/\{\{(\w+)([+-]\d+)?\}\}/g, (whole, name, offset) => {
    switch (name) {
      case 'prompt':
        return escaped(prompt)
      case 'key':
        return escaped(call.idempotencyKey ?? '')
      case 'call':
        return String(call.id)
      case 'authorization':
        return escaped(authorization)
      case 'httpDate':
        return new Date(Date.now() + Number(offset ?? 0)).toUTCString()
      default:
        return whole
    }
  })

const filledHeaders = (headers, asked) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((each) => filled(each, asked)) : filled(value, asked),
    ]),
  )

/** `cut`: `before` anything is sent, after the `headers`, or `midBody`. */
export const send = async (response, { status, headers, body, cut, trickle }) => {
  if (cut === 'before') return response.socket?.destroy()
  response.writeHead(status, { ...headers, 'content-length': body.length })
  if (cut === 'headers') {
    response.flushHeaders()
    await sleep(5)
    return response.socket?.destroy()
  }
  if (cut === 'midBody') {
    await new Promise((resolve) => response.write(body.subarray(0, Math.floor(body.length / 2)), resolve))
    return response.socket?.destroy()
  }
  if (trickle === undefined) return response.end(body)
  for (let from = 0; from < body.length && !response.destroyed; from += trickle.bytes) {
    response.write(body.subarray(from, from + trickle.bytes))
    await sleep(trickle.everyMs)
  }
  response.end()
}
