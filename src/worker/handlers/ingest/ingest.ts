/**
 * Ingest: documents as scrapers and importers have them. Each becomes a draft; those that are stored already
 * are skipped on request; the others are prepared like a batch and committed by the write lane.
 */
import type { Command, PreparedDocument } from '../../../domain/commands.js'
import { findDuplicates } from '../../../domain/ingest/duplicates.js'
import { type IngestDraft, ingestDraft } from '../../../domain/ingest/ingest_item.js'
import { type IngestFlags, ingestFlags } from '../../../domain/ingest/ingest_options.js'
import { KeyCollisions } from '../../../domain/ingest/key_collisions.js'
import { type Enriched, enriched } from '../../../domain/writes/enrichment.js'
import { prepareEnriched } from '../../../domain/writes/preparation.js'
import type { WriteRules } from '../../../domain/writes/write_rules.js'
import { ServiceError, serviceError } from '../../../errors.js'
import { BATCH_ERRORS_MAX } from '../../../limits/documents.js'
import { ingest as ingestRow } from '../../../operations/documents/ingest.js'
import type { InputOf } from '../../../operations/row/operation.js'
import type { StoreFirst } from '../../../wire/messages/messages.js'
import { type BoundHandler, type LaneContext, prepare, type RequestContext } from '../../request/handler.js'
import { droppedInvalidText } from '../../request/invalid_text.js'
import { commandOf } from '../../request/storage.js'
import { checkBatch, rulesOf } from '../documents.js'

/** The type of a collection that an ingest creates. */
const SCRAPING = 'scraping'

function prepareIngest(lane: LaneContext, input: InputOf<typeof ingestRow>, request: RequestContext): Command | StoreFirst {
  const startedMs = Date.now()
  checkBatch(input.documents)
  const { profile, flags } = ingestFlags(input.options)
  const batch = new IngestBatch(request)
  batch.read(input.documents, input.options?.titles === true)
  const skipped = flags.skipDuplicates ? batch.dropDuplicates(lane, input.collection) : 0
  const documents = batch.prepare(lane, rulesOf(lane, input.collection), flags)
  return commandOf(lane, {
    kind: 'ingest',
    collection: input.collection,
    documents,
    errors: batch.errorsInOrder(),
    type: flags.autoConfigureCollection ? SCRAPING : null,
    report: { profile, skipped, sanitized: batch.sanitized, keyCollisions: batch.collisions.texts(), warnings: batch.warnings, startedMs },
  })
}

interface Read {
  readonly index: number
  readonly draft: IngestDraft
  readonly enriched: Enriched
}

/** The documents of one request on their way to the command. */
class IngestBatch {
  readonly #errors: { readonly index: number; readonly text: string }[] = []
  readonly warnings: string[] = []
  readonly collisions = new KeyCollisions()
  sanitized = 0
  #read: readonly Read[] = []

  constructor(readonly request: RequestContext) {}

  read(items: readonly unknown[], titled: boolean): void {
    this.#read = this.#each(
      items.map((item, index) => ({ item, index })),
      ({ item, index }) => {
        const { value, isChanged } = droppedInvalidText(item)
        if (isChanged) this.sanitized += 1
        const draft = ingestDraft(value, titled, (warning) => this.#warn(`documents[${index}]: ${warning}`))
        this.collisions.add(draft)
        return { index, draft, enriched: enriched(draft) }
      },
    )
  }

  /** @returns their number */
  dropDuplicates(lane: LaneContext, collectionName: string): number {
    const read = this.#read
    const candidates = read.map(({ draft: { key, lang }, enriched: { contentMd } }) => ({ key, lang, contentMd }))
    const duplicates = lane.store.read((view) => findDuplicates(view, view.collection(collectionName)?.id, candidates))
    this.#read = read.filter((_, at) => duplicates[at] === false)
    return read.length - this.#read.length
  }

  prepare(lane: LaneContext, rules: WriteRules, flags: IngestFlags): readonly PreparedDocument[] {
    const { saveRevision, skipFts, skipEmbeddings, skipWebhooks } = flags
    const wishes = { saveRevision, skipsFullText: skipFts, skipsEmbedding: skipEmbeddings, skipsWebhooks: skipWebhooks, answered: false }
    return this.#each(this.#read, ({ draft: { key, lang, ttl }, enriched: ready }) =>
      prepareEnriched(lane, { key, lang, ttl, rules, ...wishes }, ready),
    )
  }

  errorsInOrder(): readonly string[] {
    return this.#errors.sort((left, right) => left.index - right.index).map(({ text }) => text)
  }

  /** What each gives; the errors of those that are refused are kept. */
  #each<Item extends { readonly index: number }, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] {
    return items.flatMap((item) => {
      if (this.request.shouldStop()) throw serviceError('deadline')
      try {
        return [make(item)]
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        this.#errors.push({ index: item.index, text: `documents[${item.index}]: ${error.message}` })
        return []
      }
    })
  }

  #warn(text: string): void {
    if (this.warnings.length < BATCH_ERRORS_MAX) this.warnings.push(text)
  }
}

export const ingestHandlers: readonly BoundHandler[] = [prepare(ingestRow, prepareIngest)]
