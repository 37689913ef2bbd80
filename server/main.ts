#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { processShell } from './cli/processShell.ts'
import { reportError } from './cli/reportError.ts'
import { runCli } from './cli/runCli.ts'

const shell = processShell()

// A fault nobody awaited: said in one line like any other, and the log goes on from what it holds.
const endByFault = async (error: unknown): Promise<void> => process.exit(await reportError(error, shell, false))
process.on('uncaughtException', (error) => void endByFault(error))
// A job that is to stop tells so to whatever its stage has begun; what nobody there listens to is no fault.
process.on('unhandledRejection', (reason) => {
  if (!(reason instanceof Error && reason.name === 'Interrupted')) void endByFault(reason)
})

const version = async (): Promise<string> => {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown'
}

const code = await runCli(process.argv.slice(2), {
  version: await version(),
  shell,
  // Loaded only when a store is needed, so that help and refusals are quick.
  open: async (config, log) => (await import('./compose.ts')).openWorkplace(config, { env: process.env, log }),
  connect: async (server) => (await import('./remoteEngine.ts')).remoteEngine(server),
})

// Every write was awaited: what may still be open (an idle connection) is not to hold the prompt back.
process.exit(code)
