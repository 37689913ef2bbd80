/** The project that an event belongs to, also where it is newer than this program; empty where it names none. */
export const projectOf = ({ meta }: { readonly meta: unknown }): string =>
  typeof meta === 'object' && meta !== null && 'projectId' in meta && typeof meta.projectId === 'string' ? meta.projectId : ''
