import { offlineProvider } from '../../../adapters/providers/offline.ts'
import { startOfflineServer } from '../../../adapters/providers/offlineServer.ts'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { providerContract } from '../../contract/providerContract.ts'
import { startScriptedProvider } from '../../support/scriptedProvider/startScriptedProvider.ts'

const clock = systemClock()
const minuteMs = 60_000

providerContract('offline', async () => ({
  provider: offlineProvider({ clock }),
  slow: offlineProvider({ clock, latencyMs: minuteMs }),
  model: 'offline-small',
  close: () => Promise.resolve(),
}))

providerContract('openai, against a scripted server,', async () => {
  const fast = await startScriptedProvider({ default: { text: 'You said: {{prompt}}' } })
  const silent = await startScriptedProvider({ default: { never: true } })
  return {
    provider: openaiProvider({ baseUrl: fast.baseUrl, apiKey: 'sk-test', clock }),
    slow: openaiProvider({ baseUrl: silent.baseUrl, apiKey: 'sk-test', clock }),
    model: 'gpt-4o-mini',
    close: async () => {
      await Promise.all([fast.close(), silent.close()])
    },
  }
})

providerContract('openai, against the offline server,', async () => {
  const fast = await startOfflineServer({ clock, callLog: null })
  const slow = await startOfflineServer({ clock, callLog: null, latencyMs: minuteMs })
  return {
    provider: openaiProvider({ baseUrl: fast.baseUrl, clock }),
    slow: openaiProvider({ baseUrl: slow.baseUrl, clock }),
    model: 'offline-small',
    close: async () => {
      await Promise.all([fast.close(), slow.close()])
    },
  }
})
