import { z } from 'zod'

/** How an agent names a job. */
export const handle = { jobId: z.string().min(1).max(100).describe('Id of a job, or a beginning of one that no other job has') }
