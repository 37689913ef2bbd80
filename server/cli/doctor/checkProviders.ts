import { publicProviders } from '../publicProviders.ts'
import { type Check, type Checked, ok, warn } from './check.ts'

/** What each provider is configured with. A key is only said to be there, never shown. */
export const checkProviders: Check = ({ config, shell }) =>
  Promise.resolve([
    ok('provider offline', 'needs no key'),
    ...Object.entries(config.providers)
      .filter(([name]) => name !== 'offline')
      .map(([name, { apiKeyEnv, ...rest }]): Checked => {
        const at = rest.baseUrl === undefined ? '' : `, at ${rest.baseUrl}`
        if (apiKeyEnv === undefined) return ok(`provider ${name}`, `is asked without a key${at}`)
        if ((shell.env[apiKeyEnv] ?? '') !== '') return ok(`provider ${name}`, `key in ${apiKeyEnv}${at}`)
        // Known without being configured: most people's jobs need it never.
        if (publicProviders.has(name) && Object.keys(rest).length === 0) {
          return ok(`provider ${name}`, `not set up: it needs a key in ${apiKeyEnv}`)
        }
        return warn(`provider ${name}`, `no key in ${apiKeyEnv}${at}`, `set ${apiKeyEnv} before you use this provider`)
      }),
  ])
