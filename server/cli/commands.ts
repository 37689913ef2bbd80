import type { Command } from './call.ts'
import { limitOptions, options, submitOptions } from './options.ts'

/** Headings of the help for commands of two words. */
export const commandGroups: Readonly<Record<string, string>> = {
  job: 'look at jobs and steer them',
  log: 'check the log',
  projections: 'the views made from the log',
}

/** Every command. What runs it is loaded only when it is called, so that each starts quickly. */
export const commands: readonly Command[] = [
  {
    words: ['run'],
    argument: '<paths...>',
    about: 'submit a job and work it here, to its end',
    options: submitOptions,
    load: async () => (await import('./runJob.ts')).runJob,
  },
  {
    words: ['submit'],
    argument: '<paths...>',
    about: 'submit a job for workers',
    options: [...submitOptions, options.wait],
    load: async () => (await import('./submitJob.ts')).submitJob,
  },
  {
    words: ['worker'],
    about: 'work jobs as they become due, until stopped',
    options: [options.workerId, options.workerConcurrency, options.lease, options.once, options.jobs],
    load: async () => (await import('./workJobs.ts')).workJobs,
  },
  {
    words: ['job', 'list'],
    about: 'jobs, newest first',
    options: [
      options.listProject,
      options.listState,
      options.listType,
      options.listLabel,
      options.listLimit,
      options.listCursor,
      options.jsonl,
    ],
    load: async () => (await import('./listJobs.ts')).listJobs,
  },
  {
    words: ['job', 'status'],
    argument: '<job>',
    about: 'one job as it stands',
    options: [],
    load: async () => (await import('./jobStatus.ts')).jobStatus,
  },
  {
    words: ['job', 'events'],
    argument: '<job>',
    about: 'what happened to a job, event by event',
    options: [options.eventsAfter, options.eventsLimit, options.eventsTail, options.jsonl],
    load: async () => (await import('./jobEvents.ts')).jobEvents,
  },
  {
    words: ['job', 'watch'],
    argument: '<job>',
    about: 'follow a job until it ends or pauses',
    options: [options.jsonl],
    load: async () => (await import('./watchJob.ts')).watchJob,
  },
  {
    words: ['job', 'pause'],
    argument: '<job>',
    about: 'pause at the next checkpoint or call',
    options: [],
    load: async () => (await import('./steerJob.ts')).pauseJob,
  },
  {
    words: ['job', 'resume'],
    argument: '<job>',
    about: 'let a paused job go on, with higher limits where given',
    options: limitOptions,
    load: async () => (await import('./steerJob.ts')).resumeJob,
  },
  {
    words: ['job', 'cancel'],
    argument: '<job>',
    about: 'end a job for good',
    options: [],
    load: async () => (await import('./steerJob.ts')).cancelJob,
  },
  {
    words: ['job', 'retry'],
    argument: '<job>',
    about: 'let a failed job try again',
    options: [],
    load: async () => (await import('./steerJob.ts')).retryJob,
  },
  {
    words: ['job', 'raise-budget'],
    argument: '<job>',
    about: 'raise limits of a job: each is the new total',
    options: limitOptions,
    load: async () => (await import('./steerJob.ts')).raiseBudget,
  },
  {
    words: ['job', 'reconcile'],
    argument: '<job>',
    about: 'say what became of a held call, by the provider’s own bill',
    options: [
      options.call,
      options.billed,
      options.notBilled,
      options.costUsd,
      options.inputTokens,
      options.outputTokens,
      options.note,
    ],
    load: async () => (await import('./reconcileCall.ts')).reconcileCall,
  },
  {
    words: ['job', 'ledger'],
    argument: '<job>',
    about: 'every call of a job and what it cost',
    options: [options.jsonl],
    load: async () => (await import('./jobLedger.ts')).jobLedger,
  },
  {
    words: ['job', 'audit'],
    argument: '<job>',
    about: 'check a job: chain, rules, limits, ledger, artifacts',
    options: [],
    load: async () => (await import('./verifyLog.ts')).auditJob,
  },
  {
    words: ['log', 'verify'],
    about: 'check every job of the log',
    options: [],
    load: async () => (await import('./verifyLog.ts')).verifyLog,
  },
  {
    words: ['projections', 'list'],
    about: 'the views, and how far each has read',
    options: [],
    load: async () => (await import('./projections.ts')).listProjections,
  },
  {
    words: ['projections', 'rebuild'],
    argument: '[names...]',
    about: 'make views anew from the log (default: all)',
    options: [],
    load: async () => (await import('./projections.ts')).rebuildProjections,
  },
  {
    words: ['projections', 'verify'],
    argument: '[names...]',
    about: 'compare views with a fresh fold, byte for byte (default: all)',
    options: [],
    load: async () => (await import('./projections.ts')).verifyProjections,
  },
  {
    words: ['doctor'],
    about: 'check this machine, the store and the providers',
    options: [],
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
]
