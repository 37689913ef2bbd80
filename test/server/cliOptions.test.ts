import { describe, expect, test } from 'vitest'
import { commands } from '../../server/cli/commands.ts'
import { readConfigFile } from '../../server/cli/configFile.ts'
import type { Option } from '../../server/cli/option.ts'
import { globalOptions, options } from '../../server/cli/options.ts'
import { settingsOf } from '../../server/cli/settings.ts'
import { cliBench } from '../support/cliInProcess.ts'

/** What people write in scripts and files: a change here breaks them. */
const contract: Readonly<Record<string, readonly [variable: string, key: string]>> = {
  store: ['KNOVARYN_STORE', 'store'],
  artifacts: ['KNOVARYN_ARTIFACTS', 'artifacts'],
  data: ['KNOVARYN_DATA', 'data'],
  server: ['KNOVARYN_SERVER', 'server'],
  config: ['KNOVARYN_CONFIG', 'config'],
  json: ['KNOVARYN_JSON', 'json'],
  jsonl: ['KNOVARYN_JSONL', 'jsonl'],
  type: ['KNOVARYN_TYPE', 'type'],
  project: ['KNOVARYN_PROJECT', 'project'],
  provider: ['KNOVARYN_PROVIDER', 'provider'],
  'base-url': ['KNOVARYN_BASE_URL', 'baseUrl'],
  model: ['KNOVARYN_MODEL', 'model'],
  'max-output-tokens': ['KNOVARYN_MAX_OUTPUT_TOKENS', 'maxOutputTokens'],
  input: ['KNOVARYN_INPUT', 'input'],
  set: ['KNOVARYN_SET', 'set'],
  license: ['KNOVARYN_LICENSE', 'license'],
  privacy: ['KNOVARYN_PRIVACY', 'privacy'],
  seed: ['KNOVARYN_SEED', 'seed'],
  target: ['KNOVARYN_TARGET_EXAMPLES', 'target'],
  key: ['KNOVARYN_KEY', 'key'],
  label: ['KNOVARYN_LABEL', 'label'],
  out: ['KNOVARYN_OUT', 'out'],
  'budget-usd': ['KNOVARYN_BUDGET_USD', 'budgetUsd'],
  'max-calls': ['KNOVARYN_MAX_CALLS', 'maxCalls'],
  'max-input-tokens': ['KNOVARYN_MAX_INPUT_TOKENS', 'maxInputTokens'],
  'max-total-output-tokens': ['KNOVARYN_MAX_TOTAL_OUTPUT_TOKENS', 'maxTotalOutputTokens'],
  'max-duration': ['KNOVARYN_MAX_DURATION_SECONDS', 'maxDuration'],
  'max-examples': ['KNOVARYN_MAX_EXAMPLES', 'maxExamples'],
  'price-profile': ['KNOVARYN_PRICE_PROFILE', 'priceProfile'],
  'allow-unpriced': ['KNOVARYN_ALLOW_UNPRICED', 'allowUnpriced'],
  'allow-over-budget': ['KNOVARYN_ALLOW_OVER_BUDGET', 'allowOverBudget'],
  'max-attempts': ['KNOVARYN_MAX_ATTEMPTS', 'maxAttempts'],
  'call-attempts': ['KNOVARYN_CALL_ATTEMPTS', 'callAttempts'],
  'max-lost-leases': ['KNOVARYN_MAX_LOST_LEASES', 'maxLostLeases'],
  'on-unknown': ['KNOVARYN_ON_UNKNOWN', 'onUnknown'],
  concurrency: ['KNOVARYN_CONCURRENCY', 'concurrency'],
  priority: ['KNOVARYN_PRIORITY', 'priority'],
  'start-after': ['KNOVARYN_START_AFTER', 'startAfter'],
  lease: ['KNOVARYN_LEASE_SECONDS', 'lease'],
  jobs: ['KNOVARYN_JOBS', 'jobs'],
  'on-end': ['KNOVARYN_ON_END', 'onEnd'],
  webhook: ['KNOVARYN_WEBHOOK', 'webhook'],
  wait: ['KNOVARYN_WAIT', 'wait'],
  'worker id': ['KNOVARYN_WORKER_ID', 'workerId'],
  'worker concurrency': ['KNOVARYN_WORKER_CONCURRENCY', 'workerConcurrency'],
  'worker once': ['KNOVARYN_WORKER_ONCE', 'workerOnce'],
  'list project': ['KNOVARYN_LIST_PROJECT', 'listProject'],
  'list state': ['KNOVARYN_LIST_STATE', 'listState'],
  'list type': ['KNOVARYN_LIST_TYPE', 'listType'],
  'list label': ['KNOVARYN_LIST_LABEL', 'listLabel'],
  'list limit': ['KNOVARYN_LIST_LIMIT', 'listLimit'],
  'list cursor': ['KNOVARYN_LIST_CURSOR', 'listCursor'],
  'events after': ['KNOVARYN_EVENTS_AFTER', 'eventsAfter'],
  'events limit': ['KNOVARYN_EVENTS_LIMIT', 'eventsLimit'],
  'events tail': ['KNOVARYN_EVENTS_TAIL', 'eventsTail'],
  'demo dir': ['KNOVARYN_DEMO_DIR', 'demoDir'],
  'reconcile call': ['KNOVARYN_RECONCILE_CALL', 'reconcileCall'],
  'reconcile billed': ['KNOVARYN_RECONCILE_BILLED', 'reconcileBilled'],
  'reconcile not-billed': ['KNOVARYN_RECONCILE_NOT_BILLED', 'reconcileNotBilled'],
  'reconcile cost-usd': ['KNOVARYN_RECONCILE_COST_USD', 'reconcileCostUsd'],
  'reconcile input-tokens': ['KNOVARYN_RECONCILE_INPUT_TOKENS', 'reconcileInputTokens'],
  'reconcile output-tokens': ['KNOVARYN_RECONCILE_OUTPUT_TOKENS', 'reconcileOutputTokens'],
  'reconcile note': ['KNOVARYN_RECONCILE_NOTE', 'reconcileNote'],
  'server host': ['KNOVARYN_SERVER_HOST', 'serverHost'],
  'server port': ['KNOVARYN_SERVER_PORT', 'serverPort'],
  workers: ['KNOVARYN_WORKERS', 'workers'],
  'rate-limit': ['KNOVARYN_RATE_LIMIT_PER_MINUTE', 'rateLimit'],
  'token name': ['KNOVARYN_TOKEN_NAME', 'tokenName'],
  'token role': ['KNOVARYN_TOKEN_ROLE', 'tokenRole'],
  'token project': ['KNOVARYN_TOKEN_PROJECT', 'tokenProject'],
  'token expires-in': ['KNOVARYN_TOKEN_EXPIRES_IN_DAYS', 'tokenExpiresIn'],
  'token expires-at': ['KNOVARYN_TOKEN_EXPIRES_AT', 'tokenExpiresAt'],
}

/** A valid text for each rule that a text may break. */
const samples: Readonly<Record<string, readonly [text: string, value: unknown]>> = {
  'base-url': ['http://127.0.0.1:9/v1/', 'http://127.0.0.1:9/v1'],
  server: ['http://127.0.0.1:7420/', 'http://127.0.0.1:7420'],
  webhook: ['https://hooks.example/jobs?key=7', 'https://hooks.example/jobs?key=7'],
  'budget-usd': ['1.50', '1.5'],
  'cost-usd': ['.25', '0.25'],
  'start-after': ['2026-01-31T09:00:00+01:00', '2026-01-31T08:00:00.000Z'],
  'expires-at': ['2026-01-31T09:00:00+01:00', '2026-01-31T08:00:00.000Z'],
  'expires-in': ['30', 30],
  role: ['operate', 'operate'],
  'on-unknown': ['pause', 'pause'],
  state: ['paused', 'paused'],
  label: ['team=red=blue', ['team', 'red=blue']],
  privacy: ['block', 'block'],
  set: ['chunkTokens=300', ['chunkTokens', 300]],
  lease: ['0.25', 0.25],
  'max-duration': ['90', 90],
}
const sampleOf = (option: Option<unknown>): readonly [string, unknown] =>
  samples[option.name] ?? (option.argument === null ? ['true', true] : /^<(n|revision)>$/.test(option.argument) ? ['7', 7] : ['word', 'word'])

const all: readonly Option<unknown>[] = Object.values(options)
const named = all.map((option) => [option.variable, option] as const)

const settings = (found: { line?: unknown; env?: string; file?: readonly string[] }, option: Option<unknown>) =>
  settingsOf({
    commandLine: { valueOf: (asked) => (asked === option ? found.line : undefined) },
    env: found.env === undefined ? {} : { [option.variable]: found.env },
    file: { path: 'k.json', texts: new Map(found.file === undefined ? [] : [[option.key, found.file]]), providers: {} },
  })

test('the options, their variables and their keys are those that were promised', () => {
  expect(new Map(all.map((option) => [option.variable, option.key]))).toEqual(new Map(Object.values(contract)))
})

test('no two options share a variable or a key', () => {
  expect(new Set(all.map((option) => option.variable)).size).toBe(all.length)
  expect(new Set(all.map((option) => option.key)).size).toBe(all.length)
})

test('every option belongs to a command', () => {
  const used = new Set<Option<unknown>>([...globalOptions, ...commands.flatMap((command) => command.options)])
  expect(all.filter((option) => !used.has(option)).map((option) => option.variable)).toEqual([])
})

describe.each(named)('%s', (_, option) => {
  const [text, value] = sampleOf(option)
  const expected = option.repeated ? [value] : value
  const line = option.repeated ? [text] : option.argument === null ? true : text

  test('is read from the command line, the variable and the file alike', () => {
    for (const found of [{ line }, { env: text }, { file: [text] }]) {
      expect(settings(found, option).given(option)).toEqual(expected)
    }
  })

  test('is left out where it is given nowhere, or by an empty variable', () => {
    expect(settings({}, option).given(option)).toBeUndefined()
    expect(settings({ env: '' }, option).given(option)).toBeUndefined()
  })

  test('is taken from the command line before the variable before the file', () => {
    // What stands behind is not even looked at: an empty text would break every rule.
    expect(settings({ line, env: ' ', file: [''] }, option).given(option)).toEqual(expected)
    expect(settings({ env: text, file: [''] }, option).given(option)).toEqual(expected)
  })
})

const whole = all.filter((option) => /^<(n|revision)>$/.test(option.argument ?? ''))
const wrongNumbers = ['', ' ', 'many', '1.5', '1e3', '0x10', '٣', '9007199254740993', 'NaN', 'Infinity', '--json']

describe.each(whole.map((option) => [option.variable, option] as const))('%s', (_, option) => {
  test.each(wrongNumbers)('refuses %j by name, rule and value', (text) => {
    expect(() => settings({ line: text }, option).given(option)).toThrow(
      text === '--json' ? `--${option.name} needs a value, but --json follows` : `--${option.name} must be a whole number from`,
    )
    if (text.trim() === '') return
    expect(() => settings({ env: text }, option).given(option)).toThrow(`${option.variable} must be a whole number from`)
    expect(() => settings({ file: [text] }, option).given(option)).toThrow(`"${option.key}" in k.json must be a whole number`)
  })

})

test.each(whole.filter((option) => option !== options.priority).map((option) => [option.variable, option] as const))(
  '%s refuses a negative number',
  (_, option) => {
    expect(() => settings({ line: '-7' }, option).given(option)).toThrow('not "-7"')
  },
)

test('a priority may be negative', () => {
  expect(settings({ line: '-7' }, options.priority).given(options.priority)).toBe(-7)
  expect(() => settings({ line: '-1000001' }, options.priority).given(options.priority)).toThrow('from -1000000 to 1000000')
})

test.each([
  ['--budget-usd', options.budgetUsd, ['-1', 'ten', '1e3', '1,5', '$1', '1.0000000001', 'NaN', '']],
  ['--cost-usd', options.costUsd, ['-0.1', 'free']],
  ['--lease', options.lease, ['0', '-1', 'minute', '1e3', '86401', '0.0001']],
  ['--max-duration', options.maxDuration, ['0', '-1', '1h']],
  ['--start-after', options.startAfter, ['2026-01-31T08:00:00', '2026-01-31', 'tomorrow', '2026-02-30T08:00:00Z', '08:00Z']],
  ['--base-url', options.baseUrl, ['ftp://x/v1', 'localhost:80', 'https://a:b@x/v1', 'https://x/v1?key=k', 'https://x/v1#k', '']],
  ['--label', options.label, ['team', '=red', '__proto__=x', `${'x'.repeat(201)}=y`]],
  ['--on-unknown', options.onUnknown, ['Resend', 'stop']],
  ['--state', options.listState, ['running ', 'done']],
] as const)('%s refuses what breaks its rule', (name, option: Option<unknown>, texts) => {
  for (const text of texts) {
    const line = option.repeated ? [text] : text
    expect(() => settings({ line }, option).given(option)).toThrow(`${name} must be`)
  }
})

test('an address that holds a secret is refused without being shown', () => {
  expect(() => settings({ line: 'https://me:hunter2@x/v1' }, options.baseUrl).given(options.baseUrl)).toThrow(
    /^(?!.*hunter2).*--base-url must be/,
  )
})

test('a repeated option takes the parts of its variable', () => {
  expect(settings({ env: 'a=1, b=2' }, options.label).given(options.label)).toEqual([['a', '1'], ['b', '2']])
})

describe('a configuration file', () => {
  const read = async (content: unknown) => {
    const { file } = await cliBench()
    const path = file('knovaryn.json', typeof content === 'string' ? content : JSON.stringify(content))
    return { path, config: await readConfigFile(path) }
  }

  test('holds options by name or key, and providers', async () => {
    const { config } = await read({
      'budget-usd': 2.5,
      maxCalls: 7,
      label: { team: 'red' },
      priceProfile: ['a.json', 'b.json'],
      json: true,
      workerConcurrency: 2,
      providers: { mine: { baseUrl: 'http://x/v1', requestsPerMinute: 60, protocol: 'anthropic', usageDialect: 'cached_inside' } },
      callTimeoutSeconds: 5,
    })
    expect(Object.fromEntries(config.texts)).toEqual({
      budgetUsd: ['2.5'],
      maxCalls: ['7'],
      label: ['team=red'],
      priceProfile: ['a.json', 'b.json'],
      json: ['true'],
      workerConcurrency: ['2'],
    })
    expect(config.providers).toEqual({
      mine: { baseUrl: 'http://x/v1', requestsPerMinute: 60, protocol: 'anthropic', usageDialect: 'cached_inside' },
    })
    expect(config.callTimeoutSeconds).toBe(5)
  })

  test.each([
    [{ budgetUSD: 1 }, 'unknown field "budgetUSD" in * did you mean "budgetUsd"?'],
    [{ colour: 'red' }, 'unknown field "colour" in *'],
    [{ config: 'x.json' }, 'unknown field "config" in *'],
    [{ providers: { openai: { apiKey: 'sk-1' } } }, '*: unknown field "providers.openai.apiKey": did you mean "apiKeyEnv"?'],
    [{ providers: { openai: { requestsPerMinute: -1 } } }, '*: "providers.openai.requestsPerMinute" *'],
    [{ providers: { mine: { protocol: 'grpc' } } }, '*: "providers.mine.protocol" *'],
    [{ providers: { mine: { usageDialect: 'beside' } } }, '*: "providers.mine.usageDialect" *'],
    [{ callTimeoutSeconds: 0 }, '*: "callTimeoutSeconds" *'],
    [{ maxCalls: 'many' }, '"maxCalls" in * must be a whole number from 0, not "many"'],
    [{ maxCalls: null }, '"maxCalls" in * must be a text or a number*'],
    [{ maxCalls: 1, 'max-calls': 2 }, '"max-calls" in * must be a text or a number, and stand there once'],
    [{ budgetUsd: 1e-7 }, '"budgetUsd" in * must be an amount *'],
    [{ json: 'yes' }, '"json" in * must be true or false*'],
    [[], '*: it must be one JSON object'],
    ['{"maxCalls": 9007199254740993}', '*: the number 9007199254740993 cannot be kept exactly*'],
    ['{"__proto__": {"maxCalls": 1}}', '*: $.__proto__ is a key that is not allowed'],
    ['{maxCalls: 1}', '*: not JSON: *'],
  ])('refuses %j', async (content, message) => {
    const pattern = new RegExp(`^${message.split('*').map((part) => part.replace(/[.?$"()]/g, '\\$&')).join('.*')}`)
    await expect(read(content)).rejects.toThrow(pattern)
  })

  test('never repeats what may be a key', async () => {
    const failure = await read({ providers: { openai: { apiKey: 'sk-secret' } } }).catch((error: unknown) => error)
    expect(JSON.stringify(failure)).not.toContain('sk-secret')
    expect(String(failure)).not.toContain('sk-secret')
  })
})
