import { type Check, type Checked, ok, warn } from './check.ts'

/** What each provider is configured with. A key is only said to be there, never shown. */
export const checkProviders: Check = ({ config, shell }) =>
  Promise.resolve([
    ok('provider offline', 'needs no key'),
    ...Object.entries(config.providers)
      .filter(([name]) => name !== 'offline')
      .map(([name, { baseUrl, apiKeyEnv }]): Checked => {
        const at = baseUrl === undefined ? '' : `, at ${baseUrl}`
        if (apiKeyEnv === undefined) return ok(`provider ${name}`, `is asked without a key${at}`)
        if ((shell.env[apiKeyEnv] ?? '') !== '') return ok(`provider ${name}`, `key in ${apiKeyEnv}${at}`)
        return warn(`provider ${name}`, `no key in ${apiKeyEnv}${at}`, `set ${apiKeyEnv} before you use this provider`)
      }),
  ])
