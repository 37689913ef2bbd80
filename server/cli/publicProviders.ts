/** Providers that are known without being configured, and the variables that hold their key and another address. */
export const publicProviders: ReadonlyMap<string, { readonly keyEnv: string; readonly baseUrlEnv: string }> = new Map([
  ['openai', { keyEnv: 'OPENAI_API_KEY', baseUrlEnv: 'OPENAI_BASE_URL' }],
  ['anthropic', { keyEnv: 'ANTHROPIC_API_KEY', baseUrlEnv: 'ANTHROPIC_BASE_URL' }],
])
