import { z } from 'zod'

/** A list whose type does not let its reader change it. */
export const listOf = <Item extends z.ZodType>(item: Item): z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]> =>
  z.array(item)

/** A page of a list: `nextCursor` asks for the one after it, and is null on the last. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ items: listOf(item), nextCursor: z.string().nullable() })
