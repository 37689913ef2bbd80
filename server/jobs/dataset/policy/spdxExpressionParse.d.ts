declare module 'spdx-expression-parse' {
  type Expression =
    | { readonly license: string }
    | { readonly conjunction: 'and' | 'or'; readonly left: Expression; readonly right: Expression }

  /** Raises an `Error` for what is no expression. */
  const parse: (expression: string) => Expression
  export default parse
}
