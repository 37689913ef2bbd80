import { shortened, wellFormed } from './wellFormed.ts'

/** Longest summary of a failure, in UTF-16 units. */
const summaryUnitsMax = 500

// A placeholder such as `x` is no secret, and hiding it would hide every word it occurs in.
const secretUnitsMin = 4

/**
 * Makes what a server said fit to be kept: without the key (however it was encoded), without anything that looks
 * like one, without control characters, and at most 500 UTF-16 units long, cut between characters.
 */
export const redaction = (apiKey: string): ((text: string) => string) => {
  const secrets =
    apiKey.length < secretUnitsMin
      ? []
      : [
          apiKey,
          encodeURIComponent(apiKey),
          Buffer.from(apiKey).toString('base64'),
          JSON.stringify(apiKey).slice(1, -1),
        ]
  return (text) => {
    // Before shortening: a cut through the key would leave its first half unrecognised.
    const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
    return shortened(
      wellFormed(
        hidden
          .replace(/\b(bearer\s+)[^\s"',;<>]{4,}/gi, '$1[redacted]')
          .replace(/\b(basic\s+)[\w+/=-]{16,}/gi, '$1[redacted]')
          .replace(/\bsk-[\w*.-]{4,}/g, '[redacted]')
          .replace(/([?&](?:key|api[-_]?key|token|access[-_]?token)=)[^&\s"'<>]+/gi, '$1[redacted]')
          // A summary is printed on terminals.
          .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
          .trim(),
      ),
      summaryUnitsMax,
    )
  }
}
