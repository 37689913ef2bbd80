import { canonical } from '../domain/canonical.ts'
import { defaultLimits } from '../domain/budget.ts'
import { InvalidInputError } from '../domain/errors.ts'
import { jobIdOf, type JobId } from '../domain/ids.ts'
import { type ArtifactRef, type Content, inlineBytesMax, JobSpec, type Limits } from '../domain/job/events.ts'
import { givenLimits } from '../domain/job/evolve.ts'
import { usd, type Usd } from '../domain/money.ts'
import { nearest } from '../domain/nearest.ts'
import type { ArtifactStore } from '../domain/ports/artifactStore.ts'
import type { Sha256 } from '../domain/ports/hash.ts'
import type { CallRequest, Provider } from '../domain/ports/provider.ts'
import { pinPrices, type PriceProfile, worstCaseCost, worstCaseTokens } from '../domain/pricing.ts'
import { retryPolicy } from '../domain/retry.ts'
import { refuseHostile } from '../domain/strictJson.ts'
import type { Inspected, JobDefinition, SubmittedFile } from './defineJob.ts'
import type { Submission } from './engine.ts'
import { readLimits } from './readLimits.ts'

export type Submitting = {
  readonly definitions: ReadonlyMap<string, JobDefinition>
  readonly artifacts: ArtifactStore
  readonly sha256: Sha256
  readonly now: number
  /** Tells how the provider counts, for the estimate; null where it is not configured here. */
  provider(name: string, baseUrl: string | null): Provider | null
  /** Prices that come with the program, for providers of its own. */
  ownPrices(provider: string): readonly PriceProfile[]
}

type FileWithRef = { readonly file: SubmittedFile; readonly ref: ArtifactRef }

export type PreparedJob = {
  readonly jobId: JobId
  readonly spec: JobSpec
  readonly definition: JobDefinition
  readonly inspected: Inspected<unknown>
  readonly files: readonly FileWithRef[]
  readonly prices: PriceProfile | null
  /** The jobs that the same input was or would have been under earlier versions of its definition, newest first. */
  readonly earlier: readonly JobId[]
  /** Stores what the spec refers to. Durable when this resolves; submitting comes after it. */
  store(): Promise<void>
}

const concurrencyDefault = 4
const maxLostLeasesDefault = 5

/** Checks a submission and makes its spec. Raises `InvalidInputError`; writes nothing. */
export const prepareJob = (deps: Submitting, given: Submission): PreparedJob => {
  const { sha256 } = deps
  const submission = withDefaults(given)
  const definition = definitionOf(deps.definitions, submission.type)
  refuseHostile(submission.labels ?? {}, 'labels')
  refuseHostile(submission.parameters, 'parameters')
  const toStore: Uint8Array[] = []
  const files = submission.files.map((file): FileWithRef => ({
    file,
    ref: { sha256: sha256(file.content), bytes: file.content.length, mediaType: 'application/octet-stream' },
  }))
  const inspected = inspect(definition, submission, files)
  for (const { file } of files) toStore.push(file.content)

  const requests = inspected.calls.map(({ request }) => request)
  const prices = pricesOf(deps, submission, requests)
  const pricesText = prices === null ? null : canonical(prices)
  if (pricesText !== null) toStore.push(encoded(pricesText))

  const inputText = JSON.stringify(inspected.input ?? null)
  const inputBytes = encoded(inputText)
  const isLarge = inputBytes.length > inlineBytesMax
  if (isLarge) toStore.push(inputBytes)
  const input: Content = isLarge
    ? { artifact: { sha256: sha256(inputBytes), bytes: inputBytes.length, mediaType: 'application/json' } }
    : { json: jsonOf(inputText) }

  const { provider, model, parameters, target = null } = submission
  const hashOfVersion = (definitionVersion: number): string =>
    sha256(
      canonical({ type: definition.type, definitionVersion, input: inspected.input, provider, model, parameters, target }),
    )
  const inputConfigHash = hashOfVersion(definition.version)
  const idempotencyKey = submission.idempotencyKey ?? inputConfigHash
  const limits: Limits = { ...defaultLimits, ...givenLimits(readLimits(submission.limits ?? {})) }
  const spec = checkedSpec({
    projectId: submission.projectId,
    type: definition.type,
    definitionVersion: definition.version,
    stages: definition.stages.map((stage) => stage.name),
    input,
    provider,
    model,
    parameters,
    target,
    inputConfigHash,
    idempotencyKey,
    limits,
    rateLimits: submission.rateLimits ?? {},
    priceProfile: prices === null || pricesText === null ? null : { id: prices.id, sha256: sha256(pricesText) },
    allowUnpriced: [...(submission.allowUnpriced ?? [])],
    maxAttempts: submission.maxAttempts ?? retryPolicy.attemptsMax,
    callAttempts: submission.callAttempts ?? retryPolicy.attemptsMax,
    maxLostLeases: submission.maxLostLeases ?? maxLostLeasesDefault,
    onUnknown: submission.onUnknown ?? 'resend',
    concurrency: submission.concurrency ?? concurrencyDefault,
    estimatedCostUsd:
      submission.estimatedCostUsd === undefined ? worstCaseOf(deps, submission.provider, prices, requests) : submission.estimatedCostUsd,
    priority: submission.priority ?? 0,
    labels: submission.labels ?? {},
    startAfter: instantOf(submission.startAfter),
  })
  // With a key of its own the same input meets the earlier job under that key.
  const earlierVersions = submission.idempotencyKey === undefined ? versionsBefore(definition.version) : []
  return {
    jobId: jobIdOf(spec.projectId, idempotencyKey, sha256),
    spec,
    definition,
    inspected,
    files,
    prices,
    earlier: earlierVersions.map((version) => jobIdOf(spec.projectId, hashOfVersion(version), sha256)),
    async store() {
      for (const content of toStore) await deps.artifacts.put(spec.projectId, content)
    },
  }
}

/** A submission in which all that decides what is computed is said. */
type WholeSubmission = Submission & ReturnType<typeof withDefaults>

const withDefaults = (given: Submission) => ({
  ...given,
  projectId: given.projectId ?? 'default',
  files: given.files ?? [],
  provider: given.provider ? { name: given.provider.name, baseUrl: given.provider.baseUrl ?? null } : null,
  model: given.model ?? null,
  parameters: given.parameters ?? {},
  priceProfiles: given.priceProfiles ?? [],
})

const versionsLookedBackMax = 100
const versionsBefore = (version: number): readonly number[] =>
  Array.from({ length: Math.min(version - 1, versionsLookedBackMax) }, (_, index) => version - 1 - index)

const instantOf = (given: string | undefined): string | null => {
  if (given === undefined) return null
  const at = Date.parse(given)
  if (Number.isNaN(at)) throw new InvalidInputError(`startAfter "${given}" is no instant such as 2026-01-31T08:00:00Z`, { startAfter: given })
  return new Date(at).toISOString()
}

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text)
const jsonOf = (text: string): unknown => JSON.parse(text)

const definitionOf = (definitions: ReadonlyMap<string, JobDefinition>, type: string): JobDefinition => {
  const definition = definitions.get(type)
  if (definition !== undefined) return definition
  const known = [...definitions.keys()]
  const close = nearest(type, known)
  throw new InvalidInputError(
    `there is no job type "${type}"${close === null ? '' : `: did you mean "${close}"?`} (known: ${known.join(', ')})`,
    { type, known, nearest: close },
  )
}

const inspect = (definition: JobDefinition, submission: WholeSubmission, files: readonly FileWithRef[]): Inspected<unknown> => {
  if (definition.inspect === undefined) {
    const [file] = submission.files
    if (file !== undefined) {
      throw new InvalidInputError(`job type "${definition.type}" takes no files, and was given ${file.name}`, {
        type: definition.type,
        file: file.name,
      })
    }
    refuseHostile(submission.input, 'input')
    return { input: checked(definition.type, 'input', definition.input.safeParse(submission.input)), calls: [] }
  }
  if (submission.input !== undefined) {
    throw new InvalidInputError(`job type "${definition.type}" takes files, and was given a value`, { type: definition.type })
  }
  const { model, parameters, target = null } = submission
  return definition.inspect(files, { model, parameters, target })
}

const checked = <T>(
  type: string,
  what: string,
  result: { success: true; data: T } | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } },
): T => {
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = [what, ...(issue?.path.map(String) ?? [])].join('.')
  throw new InvalidInputError(`${path} of job type "${type}": ${issue?.message ?? 'is not valid'}`, { type, path })
}

const checkedSpec = (spec: JobSpec): JobSpec => checked(spec.type, 'submission', JobSpec.safeParse(spec))

/** The one profile the job is priced by. */
const pricesOf = (deps: Submitting, submission: WholeSubmission, requests: readonly CallRequest[]): PriceProfile | null => {
  const { provider, model } = submission
  if (provider === null) return null
  const models = new Set(requests.map((request) => request.model))
  if (model !== null) models.add(model)
  const profiles =
    submission.priceProfiles.length > 0 ? submission.priceProfiles : deps.ownPrices(provider.name)
  const profile = pinPrices(profiles, { provider: provider.name, models: [...models], at: deps.now })
  const allowed = new Set(submission.allowUnpriced)
  for (const each of models) {
    if (profile !== null && Object.hasOwn(profile.models, each)) continue
    if (!allowed.has(each)) throw unpricedModel(each, provider.name, profiles)
  }
  return profile
}

export const unpricedModel = (model: string, provider: string, profiles: readonly PriceProfile[]): InvalidInputError => {
  const known = profiles.filter((each) => each.provider === provider).flatMap((each) => Object.keys(each.models))
  if (known.includes(model)) {
    const from = profiles.filter((each) => Object.hasOwn(each.models, model)).map((each) => each.effectiveFrom)
    return new InvalidInputError(
      `model "${model}" of provider ${provider} has no price in force yet: the profiles given begin ${from.join(', ')}`,
      { model, provider, known },
      'unpriced_model',
    )
  }
  const close = nearest(model, known)
  return new InvalidInputError(
    `model "${model}" of provider ${provider} has no price in force${close === null ? '' : ` (did you mean "${close}"?)`}: ` +
      `give one with --price-profile, or allow it with --allow-unpriced ${model}`,
    { model, provider, known },
    'unpriced_model',
  )
}

/** The most the job can cost, as far as that is known beforehand. */
const worstCaseOf = (
  deps: Submitting,
  named: WholeSubmission['provider'],
  prices: PriceProfile | null,
  requests: readonly CallRequest[],
): Usd | null => {
  const provider = named === null ? null : deps.provider(named.name, named.baseUrl)
  if (provider === null || prices === null || requests.length === 0) return null
  let total = 0n
  for (const request of requests) {
    const price = prices.models[request.model]
    if (price !== undefined) total += worstCaseCost(worstCaseTokens(request, provider), price)
  }
  return usd(total)
}
