// An HTTP server that answers chat completions and messages as a script says, and remembers what it was asked. A process of its
// own, so that it goes on when the one under test is killed.
//   node scriptedProvider.mjs [--log FILE] [--script FILE]
// Prints {"baseUrl":"…"} on one line when it listens. Ends when its stdin does.
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { answerOf, send } from './answering.mjs'
import { ruleBook } from './ruleBook.mjs'

const { values } = parseArgs({ options: { log: { type: 'string' }, script: { type: 'string' } } })

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const shown = (text) => [...text].slice(0, 120).join('')

let book = ruleBook(values.script === undefined ? {} : JSON.parse(readFileSync(values.script, 'utf8')))
const calls = []
const stored = new Map()
let atWork = 0
let atWorkMax = 0

/** Written before anything is answered: whoever has an answer finds its line. */
const log = (kind, call) => {
  if (values.log !== undefined) appendFileSync(values.log, `${JSON.stringify({ kind, ...call })}\n`)
}

const received = (request, body) => {
  const question = JSON.parse(body)
  const prompt = question.messages.find((message) => message.role === 'user')?.content ?? ''
  const call = {
    id: calls.length + 1,
    receivedAt: Date.now(),
    answeredAt: null,
    idempotencyKey: request.headers['idempotency-key'] ?? null,
    promptHash: createHash('sha256').update(JSON.stringify(question.messages)).digest('hex'),
    prompt: shown(prompt),
    status: null,
    billed: false,
    replayed: false,
    /** False where whoever asked had gone before the answer. */
    delivered: null,
    request: { headers: request.headers, body: question },
  }
  calls.push(call)
  log('received', withoutRequest(call))
  return {
    ...{ call, prompt, question, body },
    authorization: request.headers.authorization ?? request.headers['x-api-key'] ?? '',
    speaksMessages: request.url === '/v1/messages',
  }
}

const withoutRequest = ({ request: _, ...rest }) => rest

const complete = async (request, response) => {
  const asked = received(request, await bodyOf(request))
  const { call } = asked
  const rule = book.pick(asked)
  let answer = answerOf(rule, asked)
  const key = book.replay ? call.idempotencyKey : null
  const before = key === null ? undefined : stored.get(key)
  if (before !== undefined) {
    const conflict = { status: 409, body: { json: { error: { message: 'the first request of this key is at work' } } } }
    answer = { ...(before.answer ?? answerOf(conflict, asked)), billed: false, replayed: before.answer !== null }
  } else {
    if (key !== null) stored.set(key, { answer: null })
    await sleep(rule.delayMs ?? 0)
    // Only what was worked is kept: a refusal leaves its key free. How it was sent is no part of the answer.
    if (key !== null && answer.billed) stored.set(key, { answer: { ...answer, cut: undefined, trickle: undefined } })
    else stored.delete(key)
    if (rule.never) {
      call.billed = answer.billed
      return log('unanswered', withoutRequest(call))
    }
  }
  Object.assign(call, {
    answeredAt: Date.now(),
    status: answer.status,
    billed: answer.billed,
    replayed: answer.replayed === true,
    delivered: !response.destroyed,
  })
  log('answered', withoutRequest(call))
  await send(response, answer)
}

const count = (has) => calls.filter(has).length
const stats = () => ({
  received: calls.length,
  answered: count((call) => call.answeredAt !== null),
  billed: count((call) => call.billed),
  replayed: count((call) => call.replayed),
  keys: new Set(calls.map((call) => call.idempotencyKey)).size,
  atWork,
  atWorkMax,
})

const bodyOf = async (request) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const json = (response, status, value) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

const serve = async (request, response) => {
  switch (`${request.method} ${request.url}`) {
    case 'POST /v1/chat/completions':
    case 'POST /v1/messages':
      atWork += 1
      atWorkMax = Math.max(atWorkMax, atWork)
      try {
        return await complete(request, response)
      } finally {
        atWork -= 1
      }
    case 'GET /_calls':
      return json(response, 200, calls)
    case 'GET /_stats':
      return json(response, 200, stats())
    case 'PUT /_script':
      book = ruleBook(JSON.parse(await bodyOf(request)))
      return json(response, 200, {})
    default:
      return json(response, 404, { error: { message: `${request.method} ${request.url} is not served` } })
  }
}

const server = createServer((request, response) => {
  serve(request, response).catch((fault) => {
    if (response.headersSent || response.destroyed) return response.destroy()
    json(response, 500, { error: { message: `the script failed: ${fault.message}` } })
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${server.address().port}/v1` })}\n`)
})
process.stdin.on('end', () => process.exit(0)).resume()
