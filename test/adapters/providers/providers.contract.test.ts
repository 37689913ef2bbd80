import { anthropicProvider } from '../../../adapters/providers/anthropic.ts'
import { offlineProvider } from '../../../adapters/providers/offline.ts'
import { startOfflineServer } from '../../../adapters/providers/offlineServer.ts'
import type { HttpProviderOptions } from '../../../adapters/providers/httpProvider.ts'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import { providerContract, type ProviderUnderTest } from '../../contract/providerContract.ts'
import { startScriptedProvider } from '../../support/scriptedProvider/startScriptedProvider.ts'

const clock = systemClock()
const minuteMs = 60_000

providerContract('offline', async () => ({
  provider: offlineProvider({ clock }),
  slow: offlineProvider({ clock, latencyMs: minuteMs }),
  model: 'offline-small',
  close: () => Promise.resolve(),
}))

const scripted =
  (providerOf: (options: HttpProviderOptions) => Provider, model: string) => async (): Promise<ProviderUnderTest> => {
    const fast = await startScriptedProvider({ default: { text: 'You said: {{prompt}}' } })
    const silent = await startScriptedProvider({ default: { never: true } })
    return {
      provider: providerOf({ baseUrl: fast.baseUrl, apiKey: 'sk-test', clock }),
      slow: providerOf({ baseUrl: silent.baseUrl, apiKey: 'sk-test', clock }),
      model,
      close: async () => {
        await Promise.all([fast.close(), silent.close()])
      },
    }
  }

providerContract('openai, against a scripted server,', scripted(openaiProvider, 'gpt-4o-mini'))
providerContract('anthropic, against a scripted server,', scripted(anthropicProvider, 'scripted'))

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
