import type { Clock } from '../../domain/ports/clock.ts'
import { jobStreamPrefix } from '../../domain/ids.ts'
import { beforeAll, type EventStore, type LogPage, type Position } from '../../domain/ports/eventStore.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { ViewCheckpoint, ViewStore } from '../../domain/ports/viewStore.ts'
import { standing } from '../worker/standing.ts'
import { DueEnding, endingEvents, endingOf, putOf, takenList, textOf, waitingList } from './dueEnding.ts'
import { cursorAtHead, isOfLog, movedOn } from './hookCursor.ts'

/** Of the stored shape. */
const version = 1
const pageSize = 500

/** A try takes a minute at most. Whoever says nothing for so much longer is gone, and its ending is anybody's. */
const takeOverMs = 180_000

export type Look = {
  /** Ours to tell now. */
  readonly taken: readonly DueEnding[]
  /** Endings that wait and were not taken. */
  readonly waiting: number
  /** False when there is more to read, or somebody else was first: look again. */
  readonly isWhole: boolean
}

/**
 * The endings that hooks of one kind have yet to take, and how far the log was read for them: a set of documents in the
 * store of views, shared by all its processes. Every change is guarded by the checkpoint that it was decided on, so each
 * ending is read once and is at one process at a time. It begins at the head of the log, also where views were deleted.
 */
export type DueEndings = {
  /** Makes the cursor where there is none, so that whatever ends from now on is read. */
  begin(): Promise<void>
  /** Reads on in the log, and takes what is due, up to `free` endings. */
  look(free: number): Promise<Look>
  /** Puts `next` in the place of an ending that was taken, or removes it. Changes nothing where it was taken over. */
  close(taken: DueEnding, next: DueEnding | null): Promise<void>
  /** Until the soonest ending that the last look has seen is due; Infinity without one. */
  nextWaitMs(): number
  /** Everything up to here was read. */
  scannedTo(): Position
  /** After a fault of a store: observe everything anew. */
  forget(): void
}

export const dueEndings = (deps: {
  readonly kind: string
  readonly events: EventStore
  readonly views: ViewStore
  readonly clock: Clock
  readonly presence: Presence | null
  /** Under which this process is announced. */
  readonly taker: string
  /** True for an ending that this process is telling. */
  isOpen(eventId: string): boolean
}): DueEndings => {
  const { events, views, clock, presence, taker } = deps
  const name = `endings-${deps.kind}`
  const stood = standing(clock)
  const startedAt = clock.now()
  const filter = { streamPrefix: jobStreamPrefix, types: endingEvents }
  let known: { readonly checkpoint: ViewCheckpoint; readonly scannedTo: Position } | null = null
  let isChecked = false
  let nextWaitAt = Infinity

  const cursor = async (): Promise<ViewCheckpoint | null> => {
    const checkpoint = await views.checkpoint(name, version)
    if (checkpoint !== null && (isChecked || (await isOfLog(checkpoint, events)))) {
      isChecked = true
      return checkpoint
    }
    if (checkpoint !== null) await views.drop(name, version)
    await views.commit(name, version, { from: null, to: cursorAtHead(await events.head()) }, [])
    return null
  }

  const pageBehind = (checkpoint: ViewCheckpoint): Promise<LogPage> => {
    const after = known !== null && isSame(known.checkpoint, checkpoint) ? known.scannedTo : checkpoint.position
    return events.readAll({ after, limit: pageSize, filter })
  }

  const listed = async (term: string): Promise<readonly DueEnding[]> => {
    const documents = await views.query(name, version, { term, limit: pageSize })
    return documents.map((document) => DueEnding.parse(JSON.parse(document.value)))
  }

  const isLeft = async (due: DueEnding): Promise<boolean> => {
    const stands = stood.standsMs(due.eventId, textOf(due))
    // What we have taken without hearing so ourselves.
    if (due.taker === taker) return !deps.isOpen(due.eventId)
    return stands >= takeOverMs || (due.taker !== null && presence !== null && (await presence.isGone(due.taker)))
  }

  const leftMs = (due: DueEnding): number => {
    // One machine has one wall clock, so what passed before we looked counts too.
    const already = presence === null ? 0 : Math.max(0, Math.min(startedAt, clock.now()) - Date.parse(due.since))
    return due.waitMs - stood.standsMs(due.eventId, textOf(due), already)
  }

  const listedNow = async (): Promise<{ due: readonly DueEnding[]; waiting: number }> => {
    const [taken, waiting] = await Promise.all([listed(takenList), listed(waitingList)])
    stood.keep(new Set([...taken, ...waiting].map((due) => due.eventId)))
    const left: DueEnding[] = []
    for (const due of taken) if (await isLeft(due)) left.push(due)
    nextWaitAt = clock.monotonic() + Math.min(...waiting.map(leftMs).filter((ms) => ms > 0), Infinity)
    return { due: [...left, ...waiting.filter((due) => leftMs(due) <= 0)], waiting: waiting.length }
  }

  return {
    async begin() {
      await cursor()
    },

    async look(free) {
      const checkpoint = await cursor()
      if (checkpoint === null) return { taken: [], waiting: 0, isWhole: false }
      const [page, { due, waiting }] = await Promise.all([pageBehind(checkpoint), listedNow()])
      const since = new Date(clock.now()).toISOString()
      const fresh = page.events.flatMap((event): DueEnding[] => {
        const ending = endingOf(event)
        return ending === null ? [] : [{ ...ending, tries: 0, taker: null, waitMs: 0, since }]
      })
      const all = [...due, ...fresh]
      const taken = all.slice(0, free).map((each) => ({ ...each, taker, waitMs: 0, since }))
      const kept = all.slice(free).filter((each) => fresh.includes(each))
      const changes = [...taken, ...kept]
      const to = changes.length === 0 ? checkpoint : movedOn(checkpoint, page.events.at(-1))
      const isOurs =
        changes.length === 0 || (await views.commit(name, version, { from: checkpoint, to }, changes.map(putOf)))
      if (!isOurs) return { taken: [], waiting, isWhole: false }
      known = { checkpoint: to, scannedTo: page.scannedTo }
      return { taken, waiting: waiting + fresh.length - taken.length, isWhole: page.atEnd }
    },

    async close(taken, next) {
      for (;;) {
        const checkpoint = await views.checkpoint(name, version)
        const [stored] = await views.load(name, version, [taken.eventId])
        if (checkpoint === null || stored?.value !== textOf(taken)) return
        const to = movedOn(checkpoint, undefined)
        const change = next === null ? { kind: 'remove' as const, key: taken.eventId } : putOf(next)
        if (!(await views.commit(name, version, { from: checkpoint, to }, [change]))) continue
        if (known !== null && isSame(known.checkpoint, checkpoint)) known = { ...known, checkpoint: to }
        return
      }
    },

    nextWaitMs: () => nextWaitAt - clock.monotonic(),
    scannedTo: () => known?.scannedTo ?? beforeAll,
    forget() {
      isChecked = false
      nextWaitAt = Infinity
      stood.forget()
    },
  }
}

const isSame = (left: ViewCheckpoint, right: ViewCheckpoint): boolean =>
  left.position === right.position && left.eventId === right.eventId
