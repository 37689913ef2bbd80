const name = 'knovaryn_session'

/** The token that a browser's cookies hold, or null. */
export const sessionTokenOf = (cookies: string): string | null => {
  for (const cookie of cookies.split(';')) {
    const [key = '', value = ''] = cookie.trim().split('=', 2)
    if (key === name && value !== '') return value
  }
  return null
}

/** Kept from scripts, and never sent along with what other pages ask. */
export const sessionCookie = (token: string, isSecure: boolean): string =>
  `${name}=${token}; HttpOnly; SameSite=Strict; Path=/${isSecure ? '; Secure' : ''}`

export const endedSessionCookie = `${name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`
