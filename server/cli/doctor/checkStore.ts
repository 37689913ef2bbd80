import { type Check, ok } from './check.ts'

/** What the opened store stands on, and how much is in it. */
export const checkStore: Check = async (_call, workplace) => {
  if (workplace === null) return []
  const { store, sqliteVersion, artifacts, views } = await workplace.about()
  const projections = await workplace.engine.projections()
  const jobs = projections.find(({ name }) => name === 'jobList')?.documents ?? 0
  const head = projections[0]?.head ?? ''
  const amount = head === '' ? 'none yet' : `${jobs === 1 ? '1 job' : `${jobs} jobs`}, log at position ${head}`
  return [
    ...(sqliteVersion === null ? [] : [ok('sqlite', `SQLite ${sqliteVersion}`)]),
    ok('log', `${store} opens`),
    ok('jobs', amount),
    ...(artifacts === null ? [] : [ok('files', `stored files are in ${artifacts}`)]),
    ...(views === null || store === `sqlite:${views}` ? [] : [ok('views.db', `views are in ${views}`)]),
  ]
}
