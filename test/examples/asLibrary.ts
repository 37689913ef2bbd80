// region library
import { openEngine } from '../../server/library.ts'
import translate from './ownJob.ts'

const { engine, work, close } = await openEngine({ store: 'sqlite:./jobs', definitions: [translate] })
const { jobId } = await engine.submit({
  type: 'translate',
  input: { texts: ['good morning', 'good night'], into: 'French' },
  provider: { name: 'offline' },
  model: 'offline-small',
  limits: { maximumCostUsd: '0.10' },
})
await work({ only: jobId })
const { state, budget } = await engine.status(jobId)
console.log(state, budget.spentCostUsd)
for await (const { path, content } of engine.output(jobId)) console.log(path, Buffer.from(content).toString())
await close()
// endregion library
