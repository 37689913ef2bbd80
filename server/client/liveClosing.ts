/** Subprotocol of the live events: offered first, and the one that the server selects. */
export const liveProtocol = 'knovaryn.v1'

/** A browser cannot set `Authorization` on a socket, so it offers its token as a second subprotocol behind this. */
export const bearerProtocol = 'bearer.'

/** Why the server ends a socket of live events, as the code it is closed with. */
export const liveClosing = {
  bad_request: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  foreign_position: 4409,
  going_away: 1001,
  internal: 1011,
  try_again_later: 1013,
} as const
export type LiveClosing = keyof typeof liveClosing
