import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { askedWaitMs } from '../../../adapters/hooks/askedWaitMs.ts'
import { webhookHook, webhookTimeoutMs } from '../../../adapters/hooks/webhookHook.ts'
import { webhookSigner } from '../../../adapters/hooks/webhookSigner.ts'
import { InvalidInputError } from '../../../domain/errors.ts'
import { manualClock } from '../../support/manualClock.ts'
import { ending, never } from './endings.ts'
import { webhookReceiver } from './webhookReceiver.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const clock = manualClock()
const hookTo = (url: string, over: Partial<Parameters<typeof webhookHook>[0]> = {}) =>
  webhookHook({ url, secret: null, clock, ...over })

test('the signature is that of the example in the specification', () => {
  const signed = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
  expect(webhookSigner(secret)(signed)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('a secret that is plain text is used as its bytes', () => {
  const signature = createHmac('sha256', 'correct horse').update('a.1.b').digest('base64')
  expect(webhookSigner('correct horse')({ id: 'a', timestamp: 1, body: 'b' })).toBe(`v1,${signature}`)
})

test('a receiver can verify what is posted to it, by the bytes that came', async () => {
  const { url, received } = await webhookReceiver()
  const told = ending()
  expect(await hookTo(url, { secret }).tell(told, never)).toEqual({ taken: true, said: '', askedMs: null })
  const [post] = received
  expect(post?.path).toBe('/hook?token=t0ken')
  expect(post?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': told.eventId,
    'webhook-timestamp': String(Math.floor(clock.now() / 1_000)),
  })
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const content = [post?.headers['webhook-id'], post?.headers['webhook-timestamp'], post?.body].join('.')
  expect(post?.headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(content).digest('base64')}`)
  expect(JSON.parse(post?.body ?? '')).toEqual({ type: 'job.paused', timestamp: told.at, data: told.job })
})

test('without a secret nothing claims to be signed', async () => {
  const { url, received } = await webhookReceiver()
  await hookTo(url).tell(ending(), never)
  expect(received[0]?.headers).not.toHaveProperty('webhook-signature')
})

describe('it is not taken', () => {
  test.each([400, 404, 410, 429, 500, 503])('where the answer is %i', async (status) => {
    const { url } = await webhookReceiver((response) => void response.writeHead(status).end('t0ken'))
    expect(await hookTo(url).tell(ending(), never)).toEqual({ taken: false, said: `answered ${status}`, askedMs: null })
  })

  test.each([301, 303, 307, 308])('where the answer is a redirect (%i), and nothing follows it', async (status) => {
    const elsewhere = await webhookReceiver()
    const { url } = await webhookReceiver((response) => void response.writeHead(status, { location: elsewhere.url }).end())
    expect(await hookTo(url).tell(ending(), never)).toMatchObject({ taken: false, said: expect.stringContaining(`answered ${status}, a redirect`) })
    expect(elsewhere.received).toEqual([])
  })

  test('where nobody listens, and what is said does not hold the address', async () => {
    const { url, close } = await webhookReceiver()
    close()
    const answer = await hookTo(url).tell(ending(), never)
    expect(answer).toEqual({ taken: false, said: 'no connection, or a broken one (ECONNREFUSED)', askedMs: null })
  })

  test('where the connection is cut before an answer', async () => {
    const { url } = await webhookReceiver((response) => void response.destroy())
    expect(await hookTo(url).tell(ending(), never)).toMatchObject({ taken: false, said: expect.stringContaining('a broken one') })
  })

  test('where no answer comes within ten seconds', async () => {
    const { url, arrivals } = await webhookReceiver(() => {})
    const answer = hookTo(url).tell(ending(), never)
    await arrivals(1)
    await clock.advance(webhookTimeoutMs)
    expect(await answer).toEqual({ taken: false, said: 'no answer within 10 s', askedMs: null })
    expect(clock.sleepers()).toBe(0)
  })

  test('where it is cut short, and that takes no time', async () => {
    const { url, arrivals } = await webhookReceiver(() => {})
    const cut = new AbortController()
    const answer = hookTo(url).tell(ending(), cut.signal)
    await arrivals(1)
    cut.abort()
    expect(await answer).toMatchObject({ taken: false, said: 'it was cut short' })
    expect(await hookTo(url).tell(ending(), cut.signal)).toMatchObject({ taken: false, said: 'it was cut short' })
  })
})

test('an endless body after a good status neither holds the answer back nor is read', async () => {
  const { url } = await webhookReceiver((response) => void response.writeHead(200).write('more'))
  expect(await hookTo(url).tell(ending(), never)).toMatchObject({ taken: true })
})

test('a wait that the receiver asks for is passed on', async () => {
  const { url } = await webhookReceiver((response) => void response.writeHead(503, { 'retry-after': '7' }).end())
  expect(await hookTo(url).tell(ending(), never)).toMatchObject({ taken: false, askedMs: 7_000 })
})

test.each([
  ['0', 0],
  ['86400', 86_400_000],
  ['86401', null],
  ['Wed, 21 Oct 2026 07:28:03 GMT', 3_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['soon', null],
  ['-1', null],
  ['1e3', null],
  ['', null],
])('a Retry-After of %j is read as %j ms', (text, ms) => {
  expect(askedWaitMs(new Headers({ 'retry-after': text }), Date.UTC(2026, 9, 21, 7, 28))).toBe(ms)
})

test.each([
  'ftp://127.0.0.1/hook',
  'file:///etc/passwd',
  'hooks.example/hook',
  'https://user:pa55word@hooks.example/hook',
  'https://pa55word@hooks.example/',
])('the address %s is refused, and not repeated', (url) => {
  const made = () => hookTo(url)
  expect(made).toThrow(InvalidInputError)
  expect(made).not.toThrow(/pa55word|hooks\.example|passwd/)
})

test.each(['whsec_', 'whsec_no base64!', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS%'])('the secret %s is refused, and not repeated', (wrong) => {
  const made = () => hookTo('https://hooks.example', { secret: wrong })
  expect(made).toThrow(InvalidInputError)
  expect(made).not.toThrow(/MfKQ|no base64/)
})

test('what it is called in a log is the origin alone', () => {
  expect(hookTo('https://hooks.example:8443/secret/path?token=t0ken').title).toBe('webhook https://hooks.example:8443')
})
