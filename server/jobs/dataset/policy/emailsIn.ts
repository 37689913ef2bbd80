import validator from 'validator'
import type { Found } from './personalData.ts'

const localMax = 64
const local = /[\p{L}\p{N}._%+'-]/u
const domain = /[\p{L}\p{N}.-]{1,255}/uy

/** Set apart for examples and tests (RFC 2606, RFC 6761): nobody is reached there. */
const reserved = /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost)$/i
/** `icon@2x.png` is a file, and not everything that looks like a domain is one. */
const fileName = /^\d+x\.|\.(?:png|jpe?g|gif|svg|webp|avif|ico|js|mjs|cjs|ts|tsx|jsx|json|css|html?|txt|lock|ya?ml)$/i

/**
 * E-mail addresses, without those in domains reserved for examples. What only has the looks of one is none: the user
 * of an address (`https://jane@host`, `git@host:path`), a file, code.
 */
export const emailsIn = (text: string): readonly Found[] => {
  const found: Found[] = []
  let after = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const email = emailAround(text, at, after)
    if (email === null) continue
    found.push(email)
    after = email.end
  }
  return found
}

const emailAround = (text: string, at: number, after: number): Found | null => {
  let start = at
  while (start > Math.max(after, at - localMax) && local.test(text.charAt(start - 1))) start -= 1
  while (start < at && /[.'%+-]/.test(text.charAt(start))) start += 1
  domain.lastIndex = at + 1
  const host = domain.exec(text)?.[0].replace(/[.-]+$/, '') ?? ''
  const end = at + 1 + host.length
  if (start === at || !host.includes('.') || reserved.test(host) || fileName.test(host)) return null
  if (text.charAt(end) === '(' || isUserOfAddress(text, start, end)) return null
  return validator.isEmail(text.slice(start, end)) ? { start, end } : null
}

const isUserOfAddress = (text: string, start: number, end: number): boolean =>
  /:\/\/[^\s/?#]*$/.test(text.slice(Math.max(0, start - 100), start)) ||
  (text.startsWith('git@', start) && /[:/]/.test(text.charAt(end)))
