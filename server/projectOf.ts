import type { JobEvent, UnknownEvent } from '../domain/job/events.ts'

/** The project that an event belongs to, also where it is newer than this program; empty where it names none. */
export const projectOf = ({ meta }: JobEvent | UnknownEvent): string =>
  typeof meta === 'object' && meta !== null && 'projectId' in meta && typeof meta.projectId === 'string' ? meta.projectId : ''
