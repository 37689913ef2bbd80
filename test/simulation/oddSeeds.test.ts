import { livesThrough, seedsOf } from './livesThrough.ts'

livesThrough(seedsOf(1))
