import { expect, test } from 'vitest'
import { ask } from '../../support/asking.ts'
import { serverBench } from '../../support/serverBench.ts'
import { batch } from './routeCases.ts'

type Schema = Readonly<Record<string, unknown>>
type Media = Readonly<Record<string, { readonly schema?: Schema }>>
type Operation = {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema?: Schema }[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Media }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Media }>>
}
type Document = {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly securitySchemes: Readonly<Record<string, Schema>> }
}

const described = async (): Promise<Document> => {
  const { url } = await serverBench()
  return JSON.parse((await ask(url, { path: '/openapi.json' })).text) as Document
}
const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ route: `${method} ${path}`, path, operation })))

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const lists = ['anyOf', 'oneOf', 'allOf']
const maps = ['properties', 'patternProperties', '$defs']
const singles = ['items', 'additionalProperties', 'not', 'propertyNames']

/** What breaks the rules of JSON Schema 2020-12 in this schema and those inside it. */
const breaches = (schema: unknown, place: string): readonly string[] => {
  if (typeof schema === 'boolean') return []
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [`${place} is no schema`]
  const parts = Object.entries(schema)
  const { type, required, pattern } = schema as { type?: unknown; required?: unknown; pattern?: unknown }
  const found: string[] = []
  if (type !== undefined && ![type].flat().every((each) => types.includes(each as string))) found.push(`${place}: type ${JSON.stringify(type)}`)
  if (required !== undefined && !(Array.isArray(required) && required.every((each) => typeof each === 'string'))) found.push(`${place}: required`)
  if (pattern !== undefined) expect(() => new RegExp(pattern as string, 'u')).not.toThrow()
  for (const word of ['nullable', 'example', 'id', '$id']) if (Object.hasOwn(schema, word)) found.push(`${place}: ${word} is no word of 2020-12`)
  for (const [key, value] of parts) {
    if (lists.includes(key)) found.push(...(value as unknown[]).flatMap((each, at) => breaches(each, `${place}.${key}[${at}]`)))
    if (maps.includes(key)) found.push(...Object.entries(value as object).flatMap(([name, each]) => breaches(each, `${place}.${key}.${name}`)))
    if (singles.includes(key)) found.push(...breaches(value, `${place}.${key}`))
  }
  return found
}

test('the description is of OpenAPI 3.1, and each of its schemas keeps the rules of JSON Schema 2020-12', async () => {
  const document = await described()
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Knovaryn', version: expect.any(String) } })
  const { schemas } = document.components
  const inline = operationsOf(document).flatMap(({ route, operation }) => [
    ...(operation.parameters ?? []).map((each) => [`${route} ${each.name}`, each.schema] as const),
    ...[operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.entries(part?.content ?? {}).map(([type, media]) => [`${route} ${type}`, media.schema ?? true] as const),
    ),
  ])
  expect([...Object.entries(schemas), ...inline].flatMap(([place, schema]) => breaches(schema, place))).toEqual([])
  expect(Object.keys(schemas).filter((name) => !/^[a-zA-Z0-9._-]+$/.test(name))).toEqual([])
})

test('whatever the description refers to is in it, and nothing else', async () => {
  const document = await described()
  const referred = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref))
  expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`).toSorted())
})

test('every route says what it is for, takes the parameters of its path, and answers a problem where it does not serve', async () => {
  const document = await described()
  for (const { route, path, operation } of operationsOf(document)) {
    const { summary = '', tags = [], parameters = [], responses, requestBody } = operation
    expect([route, summary !== '', tags.length]).toEqual([route, true, 1])
    const inPath = parameters.filter((each) => each.in === 'path')
    expect([route, inPath.map(({ name }) => name)]).toEqual([route, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)])
    expect(inPath.every(({ required }) => required === true)).toBe(true)
    expect([route, Object.keys(responses['default']?.content ?? {})]).toEqual([route, ['application/problem+json']])
    expect(Object.keys(responses).some((status) => /^2\d\d$/.test(status))).toBe(true)
    expect(Object.values(responses).every(({ description = '' }) => description !== '')).toBe(true)
    if (requestBody !== undefined) expect([route, Object.keys(requestBody.content)]).toHaveLength(2)
  }
})

test('a token is asked for by every route but those of the session and of health', async () => {
  const document = await described()
  const open = operationsOf(document).filter(({ operation }) => operation.security?.length === 0)
  expect(open.map(({ route }) => route).toSorted()).toEqual(['delete /v1/session', 'get /healthz', 'get /readyz', 'post /v1/session'])
  expect(Object.keys(document.components.securitySchemes).toSorted()).toEqual(['session', 'token'])
})

test('a body that may be left out is described so', async () => {
  const { paths } = await described()
  const required = (path: string) => paths[path]?.['post']?.requestBody?.required
  expect(['/v1/jobs/{id}/pause', '/v1/jobs/{id}/resume', '/v1/jobs/{id}/budget', '/v1/jobs'].map(required)).toEqual([false, false, true, true])
})

test('a job is described to its last field', async () => {
  const { url } = await serverBench()
  const { json: job } = await ask(url, { method: 'POST', path: '/v1/jobs', body: batch() })
  const { components } = JSON.parse((await ask(url, { path: '/openapi.json' })).text) as Document
  const schema = components.schemas['JobDocument'] as { properties: object; required: readonly string[]; additionalProperties: boolean }
  expect(Object.keys(schema.properties).toSorted()).toEqual(Object.keys(job).toSorted())
  expect(schema.required.toSorted()).toEqual(Object.keys(job).toSorted())
  expect(schema.additionalProperties).toBe(false)
})
