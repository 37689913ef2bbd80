import { type CallToolResult, type Tool as ListedTool, type ToolAnnotations, ToolSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { Engine } from '../engine.ts'
import { requestIssue } from '../http/requestIssue.ts'

/** What a tool answers: the value of its schema, and the same in a few lines. */
type Answer<Value> = { readonly value: Value; readonly text: string }

type ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string
  readonly title: string
  /** Tells an agent what it does, and when to use it. */
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly input: Input
  readonly output: Output
  run(engine: Engine, input: z.output<Input>): Promise<Answer<z.input<Output>>>
}

export type Tool = {
  readonly name: string
  /** As it is listed. */
  listed(): ListedTool
  /** Raises whatever the engine raises, and `InvalidInputError` for arguments that break a rule, before anything is done. */
  call(engine: Engine, given: unknown): Promise<CallToolResult>
}

export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>(spec: ToolSpec<Input, Output>): Tool => {
  const { name, title, description, annotations, input, output } = spec
  let listed: ListedTool | null = null
  return {
    name,
    listed: () => (listed ??= ToolSchema.parse({ name, title, description, annotations, ...schemasOf(spec) })),
    async call(engine, given) {
      const read = input.safeParse(given)
      if (!read.success) throw requestIssue('arguments', input, read.error)
      const { value, text } = await spec.run(engine, read.data)
      return { structuredContent: output.parse(value), content: [{ type: 'text', text }] }
    },
  }
}

const schemasOf = ({ input, output }: Pick<ToolSpec<z.ZodObject, z.ZodObject>, 'input' | 'output'>) => ({
  inputSchema: z.toJSONSchema(input, { ...dialect, io: 'input' }),
  outputSchema: z.toJSONSchema(output, { ...dialect, io: 'output' }),
})

/** The draft that clients of the protocol check by, less what tells an agent nothing: every word of a listing costs it. */
const dialect = {
  target: 'draft-7',
  unrepresentable: 'any',
  override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) {
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  },
} as const
