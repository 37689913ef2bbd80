import { remoteEngine } from '../../server/remoteEngine.ts'
import { serverBench } from '../support/serverBench.ts'
import { engineContract } from './engineContract.ts'

engineContract('the engine of this process', async (surroundings) => {
  const { workplace } = await serverBench(surroundings)
  return { engine: workplace.engine, place: workplace }
})

engineContract('the engine of a server', async (surroundings) => {
  const { url, workplace, token } = await serverBench(surroundings)
  return { engine: remoteEngine({ url, token: await token('admin') }), place: workplace }
})
