import type { JobState } from '../domain/job/job.ts'
import type { ListedJob } from './jobList.ts'

/** What a list is narrowed to; every part must hold. */
export type JobFilter = {
  readonly projectId?: string
  readonly state?: JobState
  readonly type?: string
  readonly labels?: Readonly<Record<string, string>>
}

// Names and labels are people's own words, and may hold the characters that terms are put together with.
const plain = (text: string): string => text.replaceAll('%', '%25').replaceAll('|', '%7C').replaceAll('=', '%3D')

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('|') || 'all'

const project = (projectId: string): string => `project:${plain(projectId)}`
const labelled = (name: string, value: string): string => `label:${plain(name)}=${plain(value)}`
const stateOf = (state: JobState): string => `state:${state}`
const typeOf = (type: string): string => `type:${plain(type)}`

/** Every combination of project, state and type is a list of its own, and every label, in and across projects. */
export const jobListTerms = (job: Pick<ListedJob, 'projectId' | 'state' | 'type' | 'labels'>): readonly string[] => {
  const labels = Object.entries(job.labels).map(([name, value]) => labelled(name, value))
  return ['', project(job.projectId)].flatMap((owner) => [
    joined(owner),
    joined(owner, stateOf(job.state)),
    joined(owner, typeOf(job.type)),
    joined(owner, stateOf(job.state), typeOf(job.type)),
    ...labels.map((label) => joined(owner, label)),
  ])
}

/**
 * The shortest list that holds every job the filter lets through, and what is left to be checked of each job there:
 * nothing, but for a label together with a state, a type or another label.
 */
export const jobListOf = (filter: JobFilter): { term: string; passes(job: Pick<ListedJob, 'state' | 'type' | 'labels'>): boolean } => {
  const owner = filter.projectId === undefined ? '' : project(filter.projectId)
  const state = filter.state === undefined ? '' : stateOf(filter.state)
  const type = filter.type === undefined ? '' : typeOf(filter.type)
  const labels = Object.entries(filter.labels ?? {})
  const [label] = labels
  return {
    term: label === undefined ? joined(owner, state, type) : joined(owner, labelled(...label)),
    passes: (job) =>
      (filter.state === undefined || job.state === filter.state) &&
      (filter.type === undefined || job.type === filter.type) &&
      labels.every(([name, value]) => Object.hasOwn(job.labels, name) && job.labels[name] === value),
  }
}
