import swagger from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { HttpApp } from './httpApp.ts'
import { problemSchema } from '../client/schemas/problemSchema.ts'
import { problemMediaType } from './problems.ts'

type Json = Readonly<Record<string, unknown>>

/** Has every route that is added from now on described. The description itself is at `/openapi.json`. */
export const describeRoutes = async (app: HttpApp): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Knovaryn',
        version: '1',
        description: 'Jobs of paid language-model calls. What is not done is told as a problem by RFC 9457.',
      },
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer' },
          session: { type: 'apiKey', in: 'cookie', name: 'knovaryn_session' },
        },
      },
      security: [{ token: [] }, { session: [] }, {}],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  })
  let document: Json | null = null
  app.get('/openapi.json', { config: { guard: 'nobody' }, schema: { hide: true } }, async (_, reply) => {
    document ??= openApiOf(app)
    return reply.type('application/json').send(JSON.stringify(document))
  })
}

/** The description as it was made of the schemas, with what every route has in common. */
const openApiOf = (app: HttpApp): Json => {
  const made: unknown = JSON.parse(JSON.stringify(app.swagger()))
  const document = objectOf(made)
  const paths = mapped(objectOf(document['paths']), (operations) => mapped(objectOf(operations), operationOf))
  const components = objectOf(document['components'])
  const schemas = objectOf(components['schemas'])
  const problem = problemSchema.meta()?.id ?? ''
  const used = reachable({ paths, problem: { $ref: refOf(problem) } }, schemas)
  const named = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
  return { ...document, components: { ...components, schemas: named }, paths }
}

const problemAnswer = {
  description: 'It was not done: why, by RFC 9457',
  content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
}

const operationOf = (given: unknown): Json => {
  const operation = objectOf(given)
  const answers = mapped(objectOf(operation['responses']), (answer, status) => ({
    ...objectOf(answer),
    description: descriptions[status] ?? 'Done',
  }))
  const body = operation['requestBody']
  return {
    ...operation,
    ...(body === undefined ? {} : { requestBody: { ...objectOf(body), required: !mayBeAbsent(body) } }),
    responses: { ...answers, default: problemAnswer },
  }
}

/** Whether every form of the body is null or something else. */
const mayBeAbsent = (body: unknown): boolean =>
  Object.values(objectOf(objectOf(body)['content'])).every((media) => {
    const { anyOf } = objectOf(objectOf(media)['schema'])
    return Array.isArray(anyOf) && anyOf.some((one) => objectOf(one)['type'] === 'null')
  })

const descriptions: Readonly<Record<string, string>> = {
  '201': 'Made',
  '204': 'Done; there is nothing to tell',
  '503': 'Not now',
}

const prefix = '#/components/schemas/'
const refOf = (name: string): string => `${prefix}${name}`

/** Names of the schemas that are referred to, also by each other. */
const reachable = (from: unknown, schemas: Json): ReadonlySet<string> => {
  const found = new Set<string>()
  const left: unknown[] = [from]
  while (left.length > 0) {
    const text = JSON.stringify(left.pop() ?? null)
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (!found.has(name)) left.push(schemas[name])
      found.add(name)
    }
  }
  return found
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

const mapped = (of: Json, change: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value, key)]))
