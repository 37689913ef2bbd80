/** Lower-case hex SHA-256; text is hashed as UTF-8. */
export type Sha256 = (content: string | Uint8Array) => string
