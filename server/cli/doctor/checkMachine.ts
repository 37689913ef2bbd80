import { type Check, fail, ok } from './check.ts'
import { unknownVariables } from './variables.ts'

const nodeMajorMin = 20

/** This program was made after that: a clock before it is wrong. */
const earliest = Date.parse('2026-01-01T00:00:00Z')

export const checkMachine: Check = (call) => {
  const major = Number(process.versions.node.split('.')[0])
  const node =
    major >= nodeMajorMin
      ? ok('node', `Node.js ${process.versions.node}`)
      : fail('node', `Node.js ${process.versions.node} is too old`, `install Node.js ${nodeMajorMin} or newer`)
  const now = Date.now()
  const clock =
    now >= earliest
      ? ok('clock', new Date(now).toISOString())
      : fail('clock', `the clock says ${new Date(now).toISOString()}`, 'set the clock: it stamps every event')
  return Promise.resolve([node, clock, ...unknownVariables(call)])
}
