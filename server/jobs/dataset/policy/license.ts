import parseExpression from 'spdx-expression-parse'
import { PolicyBlockError } from '../../../../domain/errors.ts'
import { preview } from '../../../../domain/strictJson.ts'
import type { Declared } from '../parsedText.ts'
import { licenseOfFile } from './licenseOfFile.ts'

/** What is longer is no name of a licence but its text. */
const nameCharactersMax = 200

const names = ['license', 'licence', 'spdx-license-identifier', 'dcterms.license', 'dc.license']

/** The licence a document declares, as it is written there; null where it declares none. */
export const licenseOf = (declared: Declared): string | null => {
  for (const name of names) {
    const said = declared[name]?.trim() ?? ''
    if (said !== '') return said.length <= nameCharactersMax ? said : licenseOfFile(said)
  }
  return null
}

/**
 * Raises `PolicyBlockError` where no training data may be made under the licence: an identifier, an expression of
 * them, a name or an address. Of `A OR B` one has to be free, of `A AND B` both. A name that is not known is free.
 * `from` says where the licence was found.
 */
export const refuseBlockedLicense = (name: string, license: string, from = 'its own declaration'): void => {
  const rule = blockingRule(license)
  if (rule === null) return
  const shown = preview(license, nameCharactersMax)
  throw new PolicyBlockError(
    'policy_block',
    `${name}: no training data may be made under its licence ${JSON.stringify(shown)} (from ${from}): ${sentences[rule]}; ` +
      'leave the document out, or declare another licence if its owner has given you one',
    { document: name, rule, license: shown, from },
  )
}

const sentences = {
  non_commercial: 'it allows non-commercial use alone',
  no_derivatives: 'it allows no derived works',
  proprietary: 'it keeps all rights with the owner',
} as const
type Rule = keyof typeof sentences

const blockingRule = (license: string): Rule | null => {
  const expression = expressionOf(license)
  return expression === null ? nameRule(license) : expressionRule(expression.tree, expression.operands)
}

type Tree = ReturnType<typeof parseExpression>

/** Not the word of `CC-BY-NC-4.0 or later`. */
const operators = /(\s+(?:AND|OR)\s+(?!(?:any )?(?:later|newer)\b)|[()])/i

/**
 * The licence as a tree over its operands, which are numbered: whatever stands between the operators may be one, in any
 * case, known to SPDX or not.
 */
const expressionOf = (license: string): { readonly tree: Tree; readonly operands: readonly string[] } | null => {
  if (license.length > nameCharactersMax) return null
  const operands: string[] = []
  const numbered = license
    .split(operators)
    .map((part, nth) => (nth % 2 === 1 || part.trim() === '' ? part : `LicenseRef-${operands.push(part.trim()) - 1}`))
  try {
    return { tree: parseExpression(numbered.join('')), operands }
  } catch {
    return null
  }
}

const expressionRule = (tree: Tree, operands: readonly string[]): Rule | null => {
  if ('license' in tree) return nameRule(operands[Number(tree.license.replace('LicenseRef-', ''))] ?? '')
  const left = expressionRule(tree.left, operands)
  const right = expressionRule(tree.right, operands)
  if (tree.conjunction === 'and') return left ?? right
  return right === null ? null : left
}

const creativeCommons = /(?:^|[^a-z])(?:cc|creative-?commons)(?:[^a-z]|$)/
const reserved = /(?:^|[^a-z])(?:all-rights-reserved|unlicensed|proprietary|no-license|no-licence|closed-source)(?:[^a-z]|$)/

const nameRule = (license: string): Rule | null => {
  const name = license.toLowerCase().replace(/[\s_]+/g, '-')
  const isCreativeCommons = creativeCommons.test(name)
  if (/non-?commercial/.test(name) || (isCreativeCommons && /[^a-z]nc(?:[^a-z]|$)/.test(name))) return 'non_commercial'
  if (/no-?deriv/.test(name) || (isCreativeCommons && /[^a-z]nd(?:[^a-z]|$)/.test(name))) return 'no_derivatives'
  return reserved.test(name) || /^(?:none|no)$/.test(name) ? 'proprietary' : null
}
