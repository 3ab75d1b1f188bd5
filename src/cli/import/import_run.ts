/**
 * One import: source -> batches -> at most `concurrency` requests in flight. A batch that shares a document
 * with a batch in flight waits for it, so that of two spellings or two versions the later one wins, as in the
 * file. The resume point follows the longest prefix of acknowledged batches. Memory: (concurrency + 1)
 * batches, whatever the source's size.
 */
import { IMPORT_PROBLEMS_KEPT_MAX } from '../../limits/process.js'
import { MIB } from '../../limits/units.js'
import type { ImportSource } from '../files/document.js'
import type { BatchOutcome } from './batch_sender.js'
import { sendBatch } from './batch_sender.js'
import type { Batch, BatchTarget } from './batches.js'
import { groupBatches } from './batches.js'
import type { Progress } from './progress.js'
import type { ResumeState } from './resume_state.js'
import { changedItems, type StoredDocuments } from './stored_documents.js'

/**
 * Bytes of one add-batch body that `mds import` sends; a larger document is sent alone. A quarter of the body
 * bound; 500 documents of 5 KB are 2.5 MB.
 */
const IMPORT_BATCH_BYTES_MAX = 8 * MIB

export interface ImportPlan {
  readonly source: ImportSource
  readonly url: string
  readonly target: BatchTarget
  readonly batchDocumentsMax: number
  readonly concurrency: number
  readonly state: ResumeState
  readonly progress: Progress
  /** What the server has, which is not sent again. */
  readonly stored: StoredDocuments
}

/** Counters include the work of an earlier, interrupted run of the same import. */
export interface ImportResult {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly unchanged: number
  /** The first IMPORT_PROBLEMS_KEPT_MAX problems, in the order of occurrence. */
  readonly problems: readonly string[]
  /** Documents that were imported despite a problem. */
  readonly warnings: readonly string[]
}

/**
 * A batch that was sent and is not settled yet. It waits for its own response, or for the responses of
 * earlier batches.
 */
interface Flight {
  readonly batch: Batch
  readonly identities: ReadonlySet<string>
  outcome: BatchOutcome | undefined
}

const NOTHING: BatchOutcome = { added: 0, updated: 0, failed: 0, problems: [] }

/**
 * @throws ImportStopped, SourceError; the resume point is then after the last batch that was acknowledged in
 * order
 */
export async function runImport(plan: ImportPlan): Promise<ImportResult> {
  const ledger = openLedger(plan)
  const flights: Flight[] = []
  const landings = new Map<Flight, Promise<void>>()
  let failure: { readonly cause: unknown } | undefined
  let waitsFor: string | undefined
  /** Prints a reason once for all requests that wait for the same reason. */
  const tellWait = (reason: string): void => {
    if (reason !== waitsFor) plan.progress.say(`waiting: ${reason}`)
    waitsFor = reason
  }

  const launch = (batch: Batch): void => {
    const flight: Flight = { batch, identities: new Set(batch.documents.map((document) => document.identity)), outcome: undefined }
    flights.push(flight)
    const sent = batch.documents.length === 0 ? Promise.resolve(NOTHING) : sendBatch(plan.url, plan.target, batch.documents, tellWait)
    const landing = sent
      .then((outcome) => {
        flight.outcome = outcome
        waitsFor = undefined
        for (let first = flights[0]; first?.outcome !== undefined; first = flights[0]) {
          ledger.settle(first.batch, first.outcome)
          flights.shift()
        }
      })
      .catch((cause: unknown) => {
        failure ??= { cause }
      })
      .finally(() => landings.delete(flight))
    landings.set(flight, landing)
  }

  const bounds = { documentsMax: plan.batchDocumentsMax, bytesMax: IMPORT_BATCH_BYTES_MAX, problemsMax: IMPORT_PROBLEMS_KEPT_MAX }
  try {
    for await (const batch of groupBatches(changedItems(plan.source.items(plan.state.point), plan.stored), bounds)) {
      const mustWait = (): boolean =>
        flights.length >= plan.concurrency || [...landings.keys()].some((flight) => sharesDocument(flight, batch))
      while (failure === undefined && mustWait()) await Promise.race(landings.values())
      if (failure !== undefined) break
      launch(batch)
    }
  } finally {
    await Promise.all(landings.values())
  }
  if (failure !== undefined) throw failure.cause
  plan.state.clear()
  return ledger.result()
}

function sharesDocument(flight: Flight, batch: Batch): boolean {
  return batch.documents.some((document) => flight.identities.has(document.identity))
}

interface Ledger {
  /** Called once per batch, in the order of the source. */
  settle(batch: Batch, outcome: BatchOutcome): void
  result(): ImportResult
}

function openLedger({ state, progress }: ImportPlan): Ledger {
  const before = state.point ?? { added: 0, updated: 0, failed: 0, unchanged: 0 }
  let { added, updated, failed, unchanged } = before
  let documents = 0
  let stateProblem: string | undefined
  const problems: string[] = []
  const warnings: string[] = []
  const keep = (list: string[], text: string): void => {
    if (list.length < IMPORT_PROBLEMS_KEPT_MAX) list.push(text)
  }
  return {
    settle(batch, outcome) {
      added += outcome.added
      updated += outcome.updated
      failed += outcome.failed + batch.problems.length
      unchanged += batch.unchanged
      documents += batch.documents.length + batch.problems.length + batch.unchanged
      for (const { name, problem } of batch.problems) keep(problems, `${name}: ${problem}`)
      for (const problem of outcome.problems) keep(problems, problem)
      for (const { name, warning } of batch.documents) if (warning !== undefined) keep(warnings, `${name}: ${warning}`)
      progress.update(batch.consumed, documents)
      const problem = state.save({ position: batch.position, consumed: batch.consumed, added, updated, failed, unchanged })
      if (problem !== undefined && stateProblem === undefined) progress.say(`this import could not be resumed: ${problem}`)
      stateProblem ??= problem
    },
    result: () => ({ added, updated, failed, unchanged, problems, warnings }),
  }
}
