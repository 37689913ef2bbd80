import { type Check, ok, warn } from './check.ts'

/** Whether the views have read the whole log. */
export const checkViews: Check = async ({ shell }, workplace) => {
  if (workplace === null) return []
  const behind = (await workplace.engine.projections()).filter((projection) => !projection.upToDate)
  if (behind.length === 0) return [ok('views', 'all views have read the whole log')]
  return behind.map(({ name, position, head }) =>
    warn(
      'views',
      `${name} is at ${position ?? 'no position'}, the log at ${head}`,
      `a worker or the next look at it brings it up; \`${shell.program} projections rebuild\` makes it anew`,
    ),
  )
}
