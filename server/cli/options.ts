import { jobStates } from '../../domain/job/job.ts'
import { roles } from '../access.ts'
import { flag, repeated, single } from './option.ts'
import { anyText, dollars, instant, label, namedValue, oneOf, seconds, webAddress, webhookAddress, wholeNumber } from './optionValue.ts'

const daySeconds = 86_400
const yearSeconds = 366 * daySeconds

const where = 'Where:'
const shape = 'Output:'
const what = 'What:'
const limits = 'Limits:'
const trouble = 'When something fails:'
const how = 'How:'
const which = 'Which:'

/** Every option of every command. Its variable and its key in the configuration file follow from its name. */
export const options = {
  store: single(
    { name: 'store', argument: '<store>', group: where, about: 'the log: sqlite:DIR (default sqlite:./.knovaryn)' },
    anyText('a store such as sqlite:./.knovaryn'),
  ),
  artifacts: single(
    { name: 'artifacts', argument: '<place>', group: where, about: 'stored files: dir:DIR (default: inside the store)' },
    anyText('a place such as dir:./artifacts'),
  ),
  data: single(
    { name: 'data', argument: '<dir>', group: where, about: 'folder of views.db (default: that of the store)' },
    anyText('a folder'),
  ),
  config: single(
    { name: 'config', argument: '<file>', group: where, about: 'JSON file of option names and providers' },
    anyText('a file'),
  ),
  server: single(
    { name: 'server', argument: '<url>', group: where, about: 'a server to ask instead of a store here, with the token in KNOVARYN_TOKEN' },
    webAddress,
  ),
  json: flag({ name: 'json', group: shape, about: 'one JSON document on stdout' }),
  jsonl: flag({ name: 'jsonl', group: shape, about: 'one JSON document a line, as they come' }),

  type: single(
    { name: 'type', argument: '<type>', group: what, about: 'job type (default batch)' },
    anyText('the name of a job type', 200),
  ),
  project: single(
    { name: 'project', argument: '<name>', group: what, about: 'project the job belongs to (default "default")' },
    anyText('a name', 200),
  ),
  provider: single(
    { name: 'provider', argument: '<name>', group: what, about: 'offline (needs no key), openai, anthropic, or one of the configuration' },
    anyText('the name of a provider', 100),
  ),
  baseUrl: single(
    { name: 'base-url', argument: '<url>', group: what, about: 'where the provider is; also OPENAI_BASE_URL, ANTHROPIC_BASE_URL' },
    webAddress,
  ),
  model: single({ name: 'model', argument: '<name>', group: what, about: 'model to ask' }, anyText('the name of a model', 200)),
  maxOutputTokens: single(
    { name: 'max-output-tokens', argument: '<n>', group: what, about: 'most tokens of one answer (default 1024)' },
    wholeNumber(1),
  ),
  input: single(
    { name: 'input', argument: '<file>', group: what, about: 'JSON file with the input of a job type that takes no documents' },
    anyText('a file'),
  ),
  set: repeated(
    { name: 'set', argument: '<name=value>', group: what, about: 'a parameter of the job type, its value as JSON or plain text; may be repeated' },
    namedValue,
  ),
  license: single(
    { name: 'license', argument: '<name>', group: what, about: 'license of documents that declare none, such as CC-BY-4.0' },
    anyText('the name of a license', 200),
  ),
  privacy: single(
    { name: 'privacy', argument: '<block|quarantine|allow>', group: what, about: 'what becomes of personal data in documents (default quarantine)' },
    oneOf(['block', 'quarantine', 'allow']),
  ),
  seed: single({ name: 'seed', argument: '<n>', group: what, about: 'another seed makes other choices (default 1)' }, wholeNumber(0)),
  target: single({ name: 'target', argument: '<n>', group: what, about: 'examples wanted', unit: 'examples' }, wholeNumber(1)),
  key: single(
    { name: 'key', argument: '<text>', group: what, about: 'idempotency key: one job a key (default: made of the content)' },
    anyText('a key', 500),
  ),
  label: repeated({ name: 'label', argument: '<name=value>', group: what, about: 'a label; may be repeated' }, label),
  out: single(
    { name: 'out', argument: '<dir>', group: what, about: 'folder to write the results to once the job has succeeded' },
    anyText('a folder'),
  ),

  budgetUsd: single(
    { name: 'budget-usd', argument: '<usd>', group: limits, about: 'most the job may cost (default 50)' },
    dollars,
  ),
  maxCalls: single(
    { name: 'max-calls', argument: '<n>', group: limits, about: 'most calls to the provider (default 10000)' },
    wholeNumber(0),
  ),
  maxInputTokens: single(
    { name: 'max-input-tokens', argument: '<n>', group: limits, about: 'most input tokens of the whole job (default: no limit)' },
    wholeNumber(0),
  ),
  maxTotalOutputTokens: single(
    { name: 'max-total-output-tokens', argument: '<n>', group: limits, about: 'most output tokens of the whole job (default: no limit)' },
    wholeNumber(0),
  ),
  maxDuration: single(
    { name: 'max-duration', argument: '<seconds>', group: limits, about: 'most time at work (default: no limit)', unit: 'seconds' },
    seconds(yearSeconds),
  ),
  maxExamples: single(
    { name: 'max-examples', argument: '<n>', group: limits, about: 'most examples accepted (default 2500)' },
    wholeNumber(0),
  ),
  priceProfile: repeated(
    { name: 'price-profile', argument: '<file>', group: limits, about: 'JSON file of prices; may be repeated' },
    anyText('a file'),
  ),
  allowUnpriced: repeated(
    { name: 'allow-unpriced', argument: '<model>', group: limits, about: 'a model that may run without a price; may be repeated' },
    anyText('the name of a model', 200),
  ),
  allowOverBudget: flag({ name: 'allow-over-budget', group: limits, about: 'a job that cannot fit its limits: it pauses there' }),

  maxAttempts: single(
    { name: 'max-attempts', argument: '<n>', group: trouble, about: 'tries of the job (default 3)' },
    wholeNumber(1),
  ),
  callAttempts: single(
    { name: 'call-attempts', argument: '<n>', group: trouble, about: 'tries of one call (default 3)' },
    wholeNumber(1),
  ),
  maxLostLeases: single(
    { name: 'max-lost-leases', argument: '<n>', group: trouble, about: 'workers it may lose in a row (default 5)' },
    wholeNumber(1),
  ),
  onUnknown: single(
    {
      name: 'on-unknown',
      argument: '<resend|pause>',
      group: trouble,
      about: 'when nobody knows whether a call was billed (default resend)',
    },
    oneOf(['resend', 'pause']),
  ),

  concurrency: single(
    { name: 'concurrency', argument: '<n>', group: how, about: 'calls at one time (default 4)' },
    wholeNumber(1, 10_000),
  ),
  priority: single(
    { name: 'priority', argument: '<n>', group: how, about: 'higher goes first (default 0)' },
    wholeNumber(-1_000_000, 1_000_000),
  ),
  startAfter: single(
    { name: 'start-after', argument: '<instant>', group: how, about: 'not before, such as 2026-01-31T08:00:00Z' },
    instant,
  ),
  lease: single(
    { name: 'lease', argument: '<seconds>', group: how, about: 'a silent worker loses its job after (default 60)', unit: 'seconds' },
    seconds(daySeconds),
  ),
  jobs: single(
    { name: 'jobs', argument: '<module>', group: how, about: 'module with job types of your own' },
    anyText('a module'),
  ),
  onEnd: single(
    { name: 'on-end', argument: '<command>', group: how, about: 'run by sh when a job ends or pauses, its document on stdin' },
    anyText('a command'),
  ),
  webhook: single(
    { name: 'webhook', argument: '<url>', group: how, about: 'told when a job ends or pauses, signed with KNOVARYN_WEBHOOK_SECRET' },
    webhookAddress,
  ),
  wait: flag({ name: 'wait', group: how, about: 'until other workers have brought the job to its end' }),

  workerId: single(
    { name: 'id', scope: 'worker', argument: '<name>', group: how, about: 'name of this worker (default: a unique one)' },
    anyText('a name', 100),
  ),
  workerConcurrency: single(
    { name: 'concurrency', scope: 'worker', argument: '<n>', group: how, about: 'jobs at one time (default 4)' },
    wholeNumber(1, 1_000),
  ),
  once: flag({ name: 'once', scope: 'worker', group: how, about: 'until nothing is due any more' }),

  host: single(
    {
      name: 'host',
      scope: 'server',
      argument: '<address>',
      group: where,
      about: 'address to listen on (default 127.0.0.1); one that others reach needs tokens',
    },
    anyText('an address or a name of one', 255),
  ),
  port: single(
    { name: 'port', scope: 'server', argument: '<n>', group: where, about: 'port to listen on (default 7420; 0: any that is free)' },
    wholeNumber(0, 65_535),
  ),
  workers: single(
    { name: 'workers', argument: '<n>', group: how, about: 'workers in this process (default 1; 0: jobs are left to others)' },
    wholeNumber(0, 100),
  ),
  rateLimit: single(
    { name: 'rate-limit', argument: '<n>', group: limits, about: 'requests of a token a minute (default 6000)', unit: 'per-minute' },
    wholeNumber(1, 10_000_000),
  ),

  listProject: single({ name: 'project', scope: 'list', argument: '<name>', group: which, about: 'of this project' }, anyText('a name')),
  listState: single({ name: 'state', scope: 'list', argument: '<state>', group: which, about: 'in this state' }, oneOf(jobStates)),
  listType: single({ name: 'type', scope: 'list', argument: '<type>', group: which, about: 'of this type' }, anyText('a job type')),
  listLabel: single({ name: 'label', scope: 'list', argument: '<name=value>', group: which, about: 'with this label' }, label),
  listLimit: single(
    { name: 'limit', scope: 'list', argument: '<n>', group: which, about: 'jobs at most (default 50)' },
    wholeNumber(1, 500),
  ),
  listCursor: single(
    { name: 'cursor', scope: 'list', argument: '<cursor>', group: which, about: 'go on after the page before: its nextCursor' },
    anyText('a cursor'),
  ),

  eventsAfter: single(
    { name: 'after', scope: 'events', argument: '<revision>', group: which, about: 'events after this revision' },
    wholeNumber(0),
  ),
  eventsLimit: single(
    { name: 'limit', scope: 'events', argument: '<n>', group: which, about: 'events at most (default: all)' },
    wholeNumber(1),
  ),
  eventsTail: single(
    { name: 'tail', scope: 'events', argument: '<n>', group: which, about: 'the last events only' },
    wholeNumber(1),
  ),

  demoDir: single(
    {
      name: 'dir',
      scope: 'demo',
      argument: '<dir>',
      group: where,
      about: 'folder to leave everything in; DIR-2, DIR-3, … where it holds something (default: a temporary one)',
    },
    anyText('a folder'),
  ),

  call: single({ name: 'call', scope: 'reconcile', argument: '<n>', group: what, about: 'number of the call in `job ledger`' }, wholeNumber(1)),
  billed: flag({ name: 'billed', scope: 'reconcile', group: what, about: 'the provider has charged for the call' }),
  notBilled: flag({ name: 'not-billed', scope: 'reconcile', group: what, about: 'the provider has not charged for the call' }),
  costUsd: single(
    { name: 'cost-usd', scope: 'reconcile', argument: '<usd>', group: what, about: 'what it charged (default: the held worst case)' },
    dollars,
  ),
  inputTokens: single({ name: 'input-tokens', scope: 'reconcile', argument: '<n>', group: what, about: 'input tokens it charged for' }, wholeNumber(0)),
  outputTokens: single({ name: 'output-tokens', scope: 'reconcile', argument: '<n>', group: what, about: 'output tokens it charged for' }, wholeNumber(0)),
  note: single({ name: 'note', scope: 'reconcile', argument: '<text>', group: what, about: 'how this is known' }, anyText('a text', 2_000)),

  tokenName: single({ name: 'name', scope: 'token', argument: '<name>', group: what, about: 'whom or what it is for: shown in the history of jobs' }, anyText('a name', 100)),
  tokenRole: single(
    { name: 'role', scope: 'token', argument: '<role>', group: what, about: 'read, operate (also submit and steer) or admin (also rebuild and verify)' },
    oneOf(roles),
  ),
  tokenProject: repeated(
    { name: 'project', scope: 'token', argument: '<name>', group: what, about: 'a project it is for; may be repeated (default: all)' },
    anyText('a name', 200),
  ),
  tokenExpiresIn: single(
    { name: 'expires-in', scope: 'token', argument: '<days>', group: what, about: 'days until it expires (default: never)', unit: 'days' },
    wholeNumber(1, 3_660),
  ),
  tokenExpiresAt: single(
    { name: 'expires-at', scope: 'token', argument: '<instant>', group: what, about: 'when it expires, such as 2026-01-31T08:00:00Z' },
    instant,
  ),
} as const

export const globalOptions = [options.json, options.store, options.artifacts, options.data, options.server, options.config]

export const limitOptions = [
  options.budgetUsd,
  options.maxCalls,
  options.maxInputTokens,
  options.maxTotalOutputTokens,
  options.maxDuration,
  options.maxExamples,
]

/** Who is told when a job has come to rest. */
export const hookOptions = [options.onEnd, options.webhook]

export const submitOptions = [
  options.type,
  options.project,
  options.provider,
  options.baseUrl,
  options.model,
  options.maxOutputTokens,
  options.input,
  options.set,
  options.license,
  options.privacy,
  options.seed,
  options.target,
  options.key,
  options.label,
  options.out,
  ...limitOptions,
  options.priceProfile,
  options.allowUnpriced,
  options.allowOverBudget,
  options.maxAttempts,
  options.callAttempts,
  options.maxLostLeases,
  options.onUnknown,
  options.concurrency,
  options.priority,
  options.startAfter,
  options.lease,
  options.jobs,
]
