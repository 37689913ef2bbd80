const encoder = new TextEncoder()

/** Bytes of the text as UTF-8. */
export const utf8Bytes = (text: string): number => encoder.encode(text).length
