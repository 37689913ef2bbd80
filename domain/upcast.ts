/** Lifts an event's data by one schema version. */
export type Upcaster = (data: unknown) => unknown

/** For each event type the steps from version 1 on: the first lifts 1 to 2. */
export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>

/** Lifts stored data to the version that the chain ends at. History itself is never rewritten. */
export const upcast = (upcasters: Upcasters, type: string, schemaVersion: number, data: unknown): unknown =>
  (upcasters[type] ?? []).slice(schemaVersion - 1).reduce((lifted, step) => step(lifted), data)
