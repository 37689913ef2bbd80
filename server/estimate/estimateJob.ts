import { InvalidInputError } from '../../domain/errors.ts'
import type { ArtifactRef, RateLimits } from '../../domain/job/events.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { ModelPrice } from '../../domain/pricing.ts'
import type { ForeseenCall } from '../defineJob.ts'
import type { Estimate } from '../engine.ts'
import { type PreparedJob, unpricedModel } from '../submit.ts'
import { callForecast, type Counting } from './callForecast.ts'
import { overLimits } from './overLimits.ts'
import type { Pace } from './pace.ts'
import { speedOf } from './speed.ts'
import { tally } from './tally.ts'
import { together } from './together.ts'

export type Estimating = {
  /** Null where this process cannot reach such a provider. */
  provider(name: string, baseUrl: string | null): Provider | null
  providerLimits(provider: string): RateLimits
  readonly callTimeoutMs: number
  /** How answers of the model went before; null where too little is known. */
  pace(provider: string, model: string): Promise<Pace | null>
}

/** Sums up the calls that a prepared job will make. Raises what telling them does. */
export const estimateJob = async (deps: Estimating, prepared: PreparedJob): Promise<Omit<Estimate, 'existing'>> => {
  const { spec, jobId } = prepared
  const provider = spec.provider === null ? null : deps.provider(spec.provider.name, spec.provider.baseUrl)
  const tallies = new Map(spec.stages.map((stage) => [stage, tally(provider !== null)]))
  const paces = paceByModel(deps, spec.provider?.name ?? null)
  let basis: Estimate['basis'] = 'definition'
  for await (const call of foreseenCalls(prepared)) {
    const { model } = call.request
    const forecast = callForecast(call, provider ?? unknownCounting, await paces.of(model))
    const stage = tallies.get(call.stage)
    if (stage === undefined) throw new TypeError(`job type "${spec.type}" foresees a call of stage "${call.stage}", which it does not have`)
    stage.add(forecast, call.examples ?? 0, priceOf(prepared, model))
    basis = lessCertain(basis, forecast.basis)
  }
  const name = spec.provider?.name ?? null
  const speed = speedOf(spec.concurrency, name === null ? [] : [deps.providerLimits(name), spec.rateLimits[name] ?? {}])
  const stages = [...tallies].map(([stage, sums]) => ({ stage, ...sums.sum(speed, deps.callTimeoutMs) }))
  const total = together(stages)
  return {
    jobId,
    projectId: spec.projectId,
    type: spec.type,
    provider: name,
    model: spec.model,
    foreseen: total.calls > 0 || prepared.definition.foresee !== undefined || name === null,
    basis,
    stages,
    total,
    callAttempts: spec.callAttempts,
    unpriced: paces.models().filter((model) => priceOf(prepared, model) === null),
    limits: spec.limits,
    ...overLimits(spec.limits, total, basis),
  }
}

/** Where the provider is not there to say how it counts. What comes of it is shown as expected, never as the worst. */
const unknownCounting: Counting = { framing: { perCall: 0, perMessage: 0 }, countTokens: () => null }

const foreseenCalls = ({ definition, inspected, spec, files }: PreparedJob): AsyncIterable<ForeseenCall> | Iterable<ForeseenCall> => {
  if (definition.foresee === undefined) return inspected.calls
  const { model, parameters, target } = spec
  const contents = new Map(files.map(({ file, ref }) => [ref.sha256, file.content]))
  const read = async ({ sha256 }: ArtifactRef): Promise<Uint8Array> => {
    const content = contents.get(sha256)
    if (content === undefined) throw new InvalidInputError(`file ${sha256} is none of those submitted`, { sha256 })
    return content
  }
  return definition.foresee(inspected.input, { model, parameters, target, read })
}

/** Null for a model that was allowed to go unpriced. */
const priceOf = ({ prices, spec }: PreparedJob, model: string): ModelPrice | null => {
  const price = prices !== null && Object.hasOwn(prices.models, model) ? prices.models[model] : undefined
  if (price !== undefined) return price
  if (spec.provider === null || spec.allowUnpriced.includes(model)) return null
  throw unpricedModel(model, spec.provider.name, prices === null ? [] : [prices])
}

const certainty: readonly Estimate['basis'][] = ['guess', 'history', 'definition']
const lessCertain = (one: Estimate['basis'], other: Estimate['basis']): Estimate['basis'] =>
  certainty.indexOf(one) < certainty.indexOf(other) ? one : other

/** Asks for each model once: a job has few models and many calls. */
const paceByModel = (deps: Estimating, provider: string | null) => {
  const paces = new Map<string, Pace | null>()
  return {
    of: async (model: string): Promise<Pace | null> => {
      if (!paces.has(model)) paces.set(model, provider === null ? null : await deps.pace(provider, model))
      return paces.get(model) ?? null
    },
    models: (): readonly string[] => [...paces.keys()],
  }
}
