import type { ProjectionCheck, ProjectionStatus } from '../engine.ts'
import type { Call, Run } from './call.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { plainText } from './plainText.ts'
import type { Shell } from './shell.ts'
import { colouredVerdict } from './stateColour.ts'
import { withEngine } from './store.ts'
import { type Column, textTable } from './textTable.ts'
import { unknownName } from './usageError.ts'

/** The views, and how far each has read. */
export const listProjections: Run = (call) => withEngine(call, async (engine) => toldStatus(await engine.projections(), call))

/** Makes views anew from the log. */
export const rebuildProjections: Run = (call) =>
  withEngine(call, async (engine) => {
    refuseUnknown(call.args, await engine.projections())
    const { stderr } = call.shell
    const rebuilt = await engine.rebuild(call.args, ({ name, events }) => {
      if (stderr.isTerminal) void stderr.write(`\r\u001b[K${name}: ${events} events`)
    })
    if (stderr.isTerminal) await stderr.write('\r\u001b[K')
    return toldStatus(rebuilt, call)
  })

/** Compares views with a fresh fold of the log. */
export const verifyProjections: Run = (call) =>
  withEngine(call, async (engine) => {
    refuseUnknown(call.args, await engine.projections())
    const checks = await engine.verifyProjections(call.args)
    const equal = checks.every((check) => check.equal)
    const text = call.json ? `${JSON.stringify(page(checks))}\n` : checks.map((check) => checkText(check, call.shell)).join('')
    await call.shell.stdout.write(text)
    return equal ? exitCode.done : exitCode.broken
  })

const refuseUnknown = (names: readonly string[], known: readonly ProjectionStatus[]): void => {
  const all = known.map((projection) => projection.name)
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) throw unknownName('projection', unknown, all)
}

const toldStatus = async (projections: readonly ProjectionStatus[], { json, shell }: Call): Promise<ExitCode> => {
  await shell.stdout.write(json ? `${JSON.stringify(page(projections))}\n` : textTable(columns, projections))
  return exitCode.done
}

const page = <Item>(items: readonly Item[]) => ({ items, nextCursor: null })

const columns: readonly Column<ProjectionStatus>[] = [
  { heading: 'PROJECTION', text: (projection) => projection.name },
  { heading: 'VERSION', align: 'right', text: (projection) => String(projection.version) },
  { heading: 'DOCUMENTS', align: 'right', text: (projection) => String(projection.documents) },
  { heading: 'UP TO DATE', text: (projection) => (projection.upToDate ? 'yes' : 'no') },
  { heading: 'POSITION', text: (projection) => projection.position ?? 'none' },
  { heading: 'HEAD', text: (projection) => projection.head },
]

const checkText = ({ name, documents, equal, differs }: ProjectionCheck, shell: Shell): string => {
  if (equal) return `${colouredVerdict('ok', shell)}: ${name}: ${documents} documents equal to a fresh fold, byte for byte\n`
  const first = differs === null ? '' : `, first in ${plainText(differs.key)}`
  return `${colouredVerdict('BROKEN', shell)}: ${name} differs from a fresh fold${first}: make it anew with \`knovaryn projections rebuild ${name}\`\n`
}
