import { defineJob } from '../../defineJob.ts'
import { chunk, DocumentChunks } from './chunkStage.ts'
import { DatasetInput } from './datasetInput.ts'
import { parse, ParsedCheckpoint } from './documents/parseStage.ts'
import { dedupBalance } from './dedupBalanceStage.ts'
import { exportDataset } from './exportStage.ts'
import { foreseeCalls } from './foreseeCalls.ts'
import { generate, GeneratedChunk } from './generateStage.ts'
import { inspectDocuments } from './inspectDocuments.ts'
import { intake } from './intakeStage.ts'
import { plan } from './planStage.ts'
import { quality } from './qualityStage.ts'
import { DatasetOutput } from './stageResults.ts'
import { validate } from './validateStage.ts'
import { version } from './versionStage.ts'

/** Makes training examples of documents, each with the words of its source that it rests on. */
export const datasetJob = defineJob({
  type: 'dataset',
  version: 1,
  input: DatasetInput,
  stages: [
    { name: 'intake', run: intake },
    { name: 'parse', checkpoint: ParsedCheckpoint, run: parse },
    { name: 'chunk', checkpoint: DocumentChunks, run: chunk },
    { name: 'plan', run: plan },
    { name: 'generate', checkpoint: GeneratedChunk, run: generate },
    { name: 'validate', run: validate },
    { name: 'quality', run: quality },
    { name: 'dedup_balance', run: dedupBalance },
    { name: 'version', run: version },
    { name: 'export', run: exportDataset },
  ],
  inspect: inspectDocuments,
  foresee: foreseeCalls,
  files: (output) => DatasetOutput.parse(output).files,
})
