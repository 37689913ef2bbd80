import { ModelPrice, PriceProfile } from '../../domain/pricing.ts'
import { readJsonFile } from './jsonFile.ts'
import { schemaIssue } from './schemaIssue.ts'

/** Raises `InvalidInputError` naming the file and what in it is not a price profile. */
export const readPriceProfile = async (path: string): Promise<PriceProfile> => {
  const parsed = PriceProfile.safeParse(await readJsonFile(path))
  if (parsed.success) return parsed.data
  throw schemaIssue(path, parsed.error, [...Object.keys(PriceProfile.shape), ...Object.keys(ModelPrice.shape)])
}
