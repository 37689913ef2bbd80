import { InvalidInputError } from '../domain/errors.ts'
import { type LimitName, RaisedLimits } from '../domain/job/events.ts'
import { readUsd } from '../domain/money.ts'
import { nearest } from '../domain/nearest.ts'
import type { GivenLimits } from './engine.ts'

const names: readonly LimitName[] = RaisedLimits.keyof().options

/** Limits as people and programs write them. Raises `InvalidInputError` naming the limit, the value and the rule. */
export const readLimits = (given: GivenLimits): RaisedLimits => {
  const { maximumCostUsd, ...others } = given
  const cost = typeof maximumCostUsd === 'string' ? readUsd(maximumCostUsd) : maximumCostUsd
  if (cost === null && maximumCostUsd !== null) throw refused('maximumCostUsd', maximumCostUsd, 'must be US dollars such as "2.50"')
  const read = RaisedLimits.safeParse({ ...others, ...(cost === undefined ? {} : { maximumCostUsd: cost }) })
  if (read.success) return read.data
  const [issue] = read.error.issues
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : []
  if (unknown !== undefined) {
    const meant = nearest(unknown, names)
    throw refused(unknown, undefined, `is not known${meant === null ? `: known are ${names.join(', ')}` : `: did you mean "${meant}"?`}`)
  }
  const limit = names.find((name) => name === issue?.path[0]) ?? 'maximumCostUsd'
  throw refused(limit, given[limit], issue?.message ?? 'is not valid')
}

const refused = (limit: string, value: unknown, rule: string): InvalidInputError =>
  new InvalidInputError(`limit ${limit}${value === undefined ? '' : ` ${JSON.stringify(value)}`} ${rule}`, { limit, value, rule })
