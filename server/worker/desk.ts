import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Random } from '../../domain/ports/random.ts'
import type { JobId } from '../../domain/ids.ts'
import type { JobSpec, Progress } from '../../domain/job/events.ts'
import type { PriceProfile } from '../../domain/pricing.ts'
import type { Contents } from './contents.ts'
import type { Gate } from './gate.ts'
import type { JobIndex } from './jobIndex.ts'
import type { JobWriter } from './jobWriter.ts'
import type { LateAnswers } from './lateAnswers.ts'
import type { OpenCalls } from './openCalls.ts'
import type { Stopping } from './stopping.ts'
import type { Waits } from './waits.ts'

/** Everything one attempt works with. */
export type Desk = {
  readonly jobId: JobId
  readonly spec: JobSpec
  readonly workerId: string
  readonly writer: JobWriter
  readonly index: JobIndex
  readonly contents: Contents
  readonly events: EventStore
  readonly late: LateAnswers
  readonly provider: Provider | null
  readonly prices: PriceProfile | null
  /** The job's own limits, then those of this process for the provider. */
  readonly gates: readonly { readonly gate: Gate; readonly whose: 'job' | 'process' }[]
  readonly calls: OpenCalls
  readonly waits: Waits
  readonly stopping: Stopping
  readonly clock: Clock
  readonly random: Random
  readonly sha256: Sha256
  /** What the stage last said of itself; goes with the next event. */
  readonly said: { progress: Progress | undefined }
  /** Milliseconds a call that is sent now may take. */
  callTimeoutMs(): number
  /** Milliseconds the job may still work, or null without a cap. */
  durationLeftMs(): number | null
  /** Asks a store until it answers. */
  ask<T>(read: () => Promise<T>): Promise<T>
}
