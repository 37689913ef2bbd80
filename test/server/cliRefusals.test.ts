import { chmodSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type CliBench, cliBench, offline, promptLines } from '../support/cliInProcess.ts'

/** What a refused command leaves behind: no job, whichever way it came to an end. */
const expectNothingWritten = async ({ engine }: CliBench): Promise<void> => {
  expect((await engine.list({})).items).toEqual([])
  expect(await engine.verifyLog()).toMatchObject({ jobs: 0, events: 0 })
}

const prices = (over: object = {}): string =>
  JSON.stringify({
    id: 'mine',
    effectiveFrom: '2026-01-01',
    provider: 'offline',
    models: { 'offline-small': { inputPerMTok: '1', cachedInputPerMTok: '1', outputPerMTok: '1' } },
    ...over,
  })

type Case = readonly [
  what: string,
  argv: (bench: CliBench) => readonly string[],
  code: string,
  message: string | RegExp,
]

const batch = (bench: CliBench, content: string | Uint8Array = promptLines(2)): readonly string[] => [
  'run',
  bench.file('p.jsonl', content),
  ...offline,
]

const cases: readonly Case[] = [
  ['no command', () => [], 'missing_command', /a command is missing: one of .*run, submit, estimate, worker, .*job, log, projections, token, doctor/],
  ['half a command', () => ['job'], 'missing_command', 'a command is missing behind "job": one of list, status, events, '],
  ['an unknown command', () => ['sumbit', 'x'], 'unknown_command', "unknown command 'sumbit': did you mean submit?"],
  ['an unknown job command', () => ['job', 'cancle', 'x'], 'unknown_command', "unknown command 'cancle': did you mean cancel?"],
  ['a command of a later version', () => ['receipt'], 'unknown_command', "unknown command 'receipt'"],
  [
    'an unknown option',
    (bench) => [...batch(bench), '--bugdet-usd', '1'],
    'unknown_option',
    "unknown option '--bugdet-usd': did you mean --budget-usd?",
  ],
  ['an option of another command', () => ['job', 'status', 'x', '--model', 'm'], 'unknown_option', "unknown option '--model'"],
  ['an option without its value', (bench) => [...batch(bench), '--model'], 'missing_value', /--model <name>.* argument missing/],
  ['an option in the place of a value', (bench) => [...batch(bench), '--key', '--label', 'a=b'], 'invalid_option', '--key needs a value, but --label follows'],
  ['no path', () => ['run', ...offline], 'missing_argument', "missing required argument 'paths'"],
  ['no job', () => ['job', 'status'], 'missing_argument', "missing required argument 'job'"],
  ['one argument too many', () => ['job', 'status', 'a', 'b'], 'too_many_arguments', /too many arguments/],
  ['an unknown job type', (bench) => [...batch(bench), '--type', 'bacth'], 'invalid_input', 'no job type "bacth": did you mean "batch"?'],
  ['no provider', (bench) => ['run', bench.file('p.jsonl', promptLines(1)), '--model', 'm'], 'missing_option', 'a batch job needs --provider'],
  ['an address without a provider', (bench) => ['submit', bench.file('p.jsonl', promptLines(1)), '--base-url', 'http://x/v1'], 'missing_option', '--provider'],
  [
    'a model without a price',
    (bench) => [...batch(bench).slice(0, 2), '--provider', 'offline', '--model', 'offline-smal'],
    'unpriced_model',
    /offline-smal.*offline-small/,
  ],
  ['OpenAI without a key', (bench) => [...batch(bench).slice(0, 2), '--provider', 'openai', '--model', 'm', '--allow-unpriced', 'm'], 'missing_key', 'set OPENAI_API_KEY'],
  ['Anthropic without a key', (bench) => [...batch(bench).slice(0, 2), '--provider', 'anthropic', '--model', 'm', '--allow-unpriced', 'm'], 'missing_key', 'set ANTHROPIC_API_KEY'],
  ['a negative budget', (bench) => [...batch(bench), '--budget-usd', '-1'], 'invalid_option', '--budget-usd must be an amount of US dollars from 0'],
  ['a budget that is no number', (bench) => [...batch(bench), '--budget-usd', 'ten'], 'invalid_option', 'not "ten"'],
  ['a file that is not there', () => ['run', '/nowhere/p.jsonl', ...offline], 'invalid_input', '/nowhere/p.jsonl: there is no such file'],
  ['a folder', (bench) => ['run', bench.folder, ...offline], 'invalid_input', 'it is a folder: name the files in it'],
  [
    'a file that is too large',
    (bench) => {
      const path = bench.file('huge.jsonl', '')
      truncateSync(path, 300_000_000)
      return ['run', path, ...offline]
    },
    'invalid_input',
    'huge.jsonl: it is larger than 268435456 bytes',
  ],
  ['a device', () => ['run', '/dev/zero', ...offline], 'invalid_input', '/dev/zero: it is not a file'],
  [
    'links in a circle',
    (bench) => {
      symlinkSync('loop', join(bench.folder, 'loop'))
      return ['run', join(bench.folder, 'loop'), ...offline]
    },
    'invalid_input',
    'its links lead in a circle',
  ],
  ['a line that is not JSON', (bench) => batch(bench, `${promptLines(2)}{"id": "x", \n`), 'invalid_input', /p\.jsonl.*(line 3|:3)/],
  ['a line with an unknown field', (bench) => batch(bench, '{"id":"a","promt":"x"}\n'), 'invalid_input', /promt.*did you mean "prompt"/],
  ['a duplicate id', (bench) => batch(bench, promptLines(1) + promptLines(1)), 'invalid_input', /line-0/],
  ['a binary file under a text name', (bench) => batch(bench, new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2])), 'invalid_input', /p\.jsonl is not text/],
  ['a line of 50 MB', (bench) => batch(bench, `{"id":"a","prompt":"${'x'.repeat(50_000_000)}"}\n`), 'invalid_input', /over the limit/],
  ['an own __proto__ key', (bench) => batch(bench, '{"id":"a","prompt":"x","metadata":{"__proto__":{"a":1}}}\n'), 'invalid_input', /__proto__/],
  ['an integer beyond 2^53', (bench) => batch(bench, '{"id":"a","prompt":"x","metadata":{"n":9007199254740993}}\n'), 'invalid_input', /9007199254740993/],
  ['half a surrogate pair', (bench) => batch(bench, '{"id":"a","prompt":"\\ud83d"}\n'), 'invalid_input', /surrogate/],
  ['prices that are not there', (bench) => [...batch(bench), '--price-profile', '/nowhere.json'], 'invalid_input', '/nowhere.json: there is no such file'],
  [
    'prices with an unknown field',
    (bench) => [...batch(bench), '--price-profile', bench.file('prices.json', prices({ model: {} }))],
    'invalid_input',
    /prices\.json: unknown field "model": did you mean "models"\?/,
  ],
  [
    'a price with an unknown field',
    (bench) => [
      ...batch(bench),
      '--price-profile',
      bench.file('prices.json', prices({ models: { m: { inputPerMTok: '1', cachedInputPerMTok: '1', outputPerMtok: '1' } } })),
    ],
    'invalid_input',
    /prices\.json: unknown field "models\.m\.outputPerMtok": did you mean "outputPerMTok"\?/,
  ],
  [
    'a price that is missing',
    (bench) => [
      ...batch(bench),
      '--price-profile',
      bench.file('prices.json', prices({ models: { m: { inputPerMTok: '1', cachedInputPerMTok: '1' } } })),
    ],
    'invalid_input',
    /prices\.json: "models\.m\.outputPerMTok" is missing/,
  ],
  [
    'a price that is a number',
    (bench) => [
      ...batch(bench),
      '--price-profile',
      bench.file('prices.json', prices({ models: { m: { inputPerMTok: 1, cachedInputPerMTok: '1', outputPerMTok: '1' } } })),
    ],
    'invalid_input',
    /prices\.json: "models\.m\.inputPerMTok" must be of type string, not number/,
  ],
  [
    'a negative price',
    (bench) => [
      ...batch(bench),
      '--price-profile',
      bench.file('prices.json', prices({ models: { m: { inputPerMTok: '-1', cachedInputPerMTok: '1', outputPerMTok: '1' } } })),
    ],
    'invalid_input',
    /prices\.json: "models\.m\.inputPerMTok" must be US dollars/,
  ],
  [
    'overlapping price profiles',
    (bench) => [
      ...batch(bench),
      '--price-profile',
      bench.file('a.json', prices()),
      '--price-profile',
      bench.file('b.json', prices({ id: 'other' })),
    ],
    'invalid_input',
    /"mine" and "other" both price offline offline-small/,
  ],
  ['a label without a value', (bench) => [...batch(bench), '--label', 'red'], 'invalid_option', '--label must be name=value'],
  ['two values for one label', (bench) => [...batch(bench), '--label', 'a=1', '--label', 'a=2'], 'invalid_option', 'label "a" is given two values'],
  ['a start without an offset', (bench) => [...batch(bench), '--start-after', '2026-01-31T08:00:00'], 'invalid_option', 'an instant with its offset'],
  ['an --out that is a file', (bench) => [...batch(bench), '--out', bench.file('taken', '')], 'invalid_option', 'is not a folder'],
  ['a configuration that is not there', (bench) => [...batch(bench), '--config', '/nowhere.json'], 'invalid_input', '/nowhere.json: there is no such file'],
  [
    'a configuration with an unknown field',
    (bench) => [...batch(bench), '--config', bench.file('k.json', '{"budgetUds": 1}')],
    'unknown_field',
    /unknown field "budgetUds" in .*k\.json: did you mean "budgetUsd"\?/,
  ],
  ['a job that is not there', () => ['job', 'status', 'ffff'], 'job_not_found', /ffff/],
  ['a raise of nothing', () => ['job', 'raise-budget', 'ffff'], 'missing_option', 'say which limit to raise'],
  ['a reconciliation of no call', () => ['job', 'reconcile', 'ffff', '--billed'], 'missing_option', '--call'],
  ['a reconciliation both ways', () => ['job', 'reconcile', 'ffff', '--call', '1', '--billed', '--not-billed'], 'missing_option', '--not-billed'],
  ['a reconciliation neither way', () => ['job', 'reconcile', 'ffff', '--call', '1'], 'missing_option', '--billed'],
  [
    'a cost of what was not billed',
    () => ['job', 'reconcile', 'ffff', '--call', '1', '--not-billed', '--cost-usd', '1'],
    'missing_option',
    'has no cost',
  ],
  ['events after and from the tail', () => ['job', 'events', 'ffff', '--after', '1', '--tail', '1'], 'invalid_option', '--after or --tail'],
  ['a token for nobody', () => ['token', 'create', '--role', 'read'], 'missing_option', '--name'],
  ['a token that allows nothing', () => ['token', 'create', '--name', 'ann'], 'missing_option', /--role .*read, operate or admin/],
  ['a role that is none', () => ['token', 'create', '--name', 'ann', '--role', 'god'], 'invalid_option', '--role must be one of read, operate, admin'],
  ['a token with a name like an id', () => ['token', 'create', '--name', '0123456789abcdef', '--role', 'read'], 'invalid_input', 'name: must not look like'],
  [
    'a token with two ends',
    () => ['token', 'create', '--name', 'ann', '--role', 'read', '--expires-in', '1', '--expires-at', '2100-01-01T00:00:00Z'],
    'invalid_option',
    'either --expires-in or --expires-at',
  ],
  [
    'a token that has expired already',
    () => ['token', 'create', '--name', 'ann', '--role', 'read', '--expires-at', '2026-01-01T00:00:00Z'],
    'invalid_input',
    'has passed already',
  ],
  ['to revoke a token that is not there', () => ['token', 'revoke', 'ann'], 'token_not_found', 'there is no token "ann"'],
  ['an unknown view', () => ['projections', 'rebuild', 'jobLists'], 'unknown_projection', 'did you mean "jobList"?'],
  ['an unknown view to verify', () => ['projections', 'verify', 'nothing'], 'unknown_projection', 'unknown projection "nothing"'],
]

describe('the command line refuses', () => {
  test.each(cases)('%s: says what is wrong, exits 2 and writes nothing', async (_, argv, code, message) => {
    const bench = await cliBench()
    const line = argv(bench)
    const people = await bench.run(...line)
    expect(people).toMatchObject({ code: 2, stdout: '' })
    expect(people.stderr).toMatch(/^knovaryn: /)
    expect(people.stderr).toMatch(message)
    expect(people.stderr).not.toMatch(/\n\s+at |undefined|\[object/)
    expect(people.stderr.split('\n')[0]?.length).toBeLessThan(400)

    const programs = await bench.json(...line)
    expect(programs).toMatchObject({ code: 2, stderr: '', document: { error: { code } } })
    expect(programs.document.error.message).toMatch(message)
    expect(Object.keys(programs.document)).toEqual(['error'])
    expect(Object.keys(programs.document.error)).toEqual(['code', 'message', 'details'])
    await expectNothingWritten(bench)
  })

  test('a file that may not be read, by its path', async () => {
    // The superuser may read everything.
    if (process.getuid?.() === 0) return
    const bench = await cliBench()
    const path = bench.file('p.jsonl', promptLines(1))
    chmodSync(path, 0)
    expect(await bench.run('run', path, ...offline)).toMatchObject({ code: 2, stderr: expect.stringContaining('it may not be read') })
  })

  test('a broken variable by its name, before any store is opened', async () => {
    const bench = await cliBench({ env: { KNOVARYN_LEASE_SECONDS: 'a minute' } })
    const { code, stderr } = await bench.run('worker', '--once')
    expect({ code, opened: bench.opened }).toEqual({ code: 2, opened: [] })
    expect(stderr).toContain('KNOVARYN_LEASE_SECONDS must be a number of seconds above 0 and at most 86400, not "a minute"')
  })

  test('an address with a password from the environment without showing it', async () => {
    const bench = await cliBench({ env: { OPENAI_BASE_URL: 'https://me:hunter2@gateway/v1' } })
    const line = ['submit', bench.file('p.jsonl', promptLines(1)), '--provider', 'openai', '--model', 'm', '--allow-unpriced', 'm']
    const { code, stderr, stdout } = await bench.run(...line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('the base URL configured for openai must be an http:// or https:// address')
    expect(stderr).not.toContain('hunter2')
    await expectNothingWritten(bench)
  })

  test('to look for jobs where no store is, and makes none', async () => {
    const bench = await cliBench()
    const folder = join(bench.folder, 'nothing-here')
    const { code, stderr } = await bench.run('job', 'list', '--store', `sqlite:${folder}`)
    expect({ code, opened: bench.opened }).toEqual({ code: 2, opened: [] })
    expect(stderr).toContain(`there is no store at sqlite:${folder}`)
  })

  test('names the nearest jobs for a handle that fits none', async () => {
    const bench = await cliBench()
    const { document } = await bench.json('submit', bench.file('p.jsonl', promptLines(1)), ...offline)
    const wrong = `${document.jobId.slice(0, 31)}${document.jobId.endsWith('0') ? '1' : '0'}`
    const { code, stderr } = await bench.run('job', 'status', wrong)
    expect(code).toBe(2)
    expect(stderr).toContain(document.jobId)
  })

  test('what a terminal would obey is not passed on in an error', async () => {
    const bench = await cliBench()
    const { stderr } = await bench.run('run', '\u001b[2Jp.jsonl', ...offline)
    expect(stderr).not.toContain('\u001b')
    expect(stderr).toContain('\\u001b[2Jp.jsonl: there is no such file')
  })
})

test('a fault is one line and exit code 5, and shows its stack only when asked', async () => {
  const broken = async (env: Record<string, string>) => {
    const bench = await cliBench({ env })
    Object.assign(bench.engine, {
      list: () => {
        throw new TypeError('cannot read properties of a bug')
      },
    })
    return bench.run('job', 'list')
  }
  const { code, stderr, stdout } = await broken({})
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
  expect(stderr).toMatch(/^knovaryn: unexpected: cannot read properties of a bug\n {2}\S.*\n$/)
  expect((await broken({ KNOVARYN_DEBUG: '1' })).stderr).toContain('cliRefusals.test.ts')
})
