import type { Access, TokenInList } from '../access.ts'
import type { Call, Run } from './call.ts'
import { exitCode } from './exitCode.ts'
import { options } from './options.ts'
import { plainText } from './plainText.ts'
import { tableWidth } from './shell.ts'
import { withStore, withWorkplace } from './store.ts'
import { type Column, textTable } from './textTable.ts'
import { UsageError } from './usageError.ts'

const dayMs = 86_400_000

/** Makes a token. Its text is all there is on stdout, so that a script can keep it. */
export const createToken: Run = (call) => {
  const wanted = wantedOf(call)
  return withWorkplace(call, async ({ access }) => {
    const { token, listed } = await access.create(wanted)
    const { stdout, stderr } = call.shell
    await stdout.write(`${call.json ? JSON.stringify({ token, ...listed }) : token}\n`)
    if (!call.json) await stderr.write(`${plainText(sentenceAbout(listed))}\nKeep it now: it is shown this once, and nobody can read it back.\n`)
    return exitCode.done
  })
}

/** Every token there ever was, the oldest first. */
export const listTokens: Run = (call) =>
  withStore(call, async ({ access }) => {
    const items = await access.list()
    const { stdout } = call.shell
    const text = items.length === 0 ? 'no tokens\n' : textTable(columnsAt(Date.now()), items, tableWidth(stdout))
    await stdout.write(call.json ? `${JSON.stringify({ items, nextCursor: null })}\n` : text)
    return exitCode.done
  })

/** Ends a token: whoever is connected with it is sent away, at every server of this store. */
export const revokeToken: Run = (call) =>
  withStore(call, async ({ access }) => {
    const revoked = await access.revoke(call.args[0] ?? '')
    const text = plainText(`token ${revoked.name} (${revoked.id}) lets nobody in any more`)
    await call.shell.stdout.write(`${call.json ? JSON.stringify(revoked) : text}\n`)
    return exitCode.done
  })

const wantedOf = ({ given }: Call): Parameters<Access['create']>[0] => {
  const [name, role] = [given(options.tokenName), given(options.tokenRole)]
  if (name === undefined) throw new UsageError('missing_option', 'say with --name whom or what the token is for')
  if (role === undefined) throw new UsageError('missing_option', 'say with --role what the token allows: read, operate or admin')
  const [days, at] = [given(options.tokenExpiresIn), given(options.tokenExpiresAt)]
  if (days !== undefined && at !== undefined) throw new UsageError('invalid_option', 'give either --expires-in or --expires-at')
  const expiresAt = days === undefined ? (at ?? null) : new Date(Date.now() + days * dayMs).toISOString()
  return { name, role, projects: given(options.tokenProject) ?? null, expiresAt }
}

const sentenceAbout = ({ id, name, role, projects, expiresAt }: TokenInList): string => {
  const end = expiresAt === null ? 'until it is revoked' : `until ${expiresAt}`
  return `token ${name} (${id}): ${role} for ${projectsText(projects)}, ${end}`
}

const projectsText = (projects: readonly string[] | null): string => projects?.join(', ') ?? 'all projects'

const columnsAt = (now: number): readonly Column<TokenInList>[] => [
  { heading: 'ID', text: ({ id }) => id },
  { heading: 'NAME', text: ({ name }) => name },
  { heading: 'ROLE', text: ({ role }) => role },
  { heading: 'PROJECTS', spare: 3, text: ({ projects }) => projectsText(projects) },
  { heading: 'STATE', text: (token) => stateOf(token, now) },
  { heading: 'EXPIRES', spare: 2, text: ({ expiresAt }) => expiresAt ?? '' },
  { heading: 'CREATED', spare: 1, text: ({ createdAt }) => createdAt },
]

const stateOf = ({ revokedAt, expiresAt }: TokenInList, now: number): string => {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}
