/**
 * One slice of embedding. A lane cuts some documents into texts, the texts that lack vectors go to the
 * provider, and the vectors go to the write lane. All vectors that the provider returned are stored,
 * including those of a document of which other texts failed. Front-end thread only.
 */
import { setTimeout } from 'node:timers/promises'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { ask, Refused } from '../../dispatch/inner_request.js'
import { CATALOGUE, isFault, isUnavailable } from '../../errors.js'
import { EMBEDDING_STORE_RETRY_MS } from '../../limits/embedding.js'
import { embeddingInputs, storeVectors } from '../../operations/server/embedding.js'
import { EmbeddingError, type EmbeddingProvider } from '../../outbound/embedding/provider.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { CutDocument, CutDocuments, NamedDocument, NamedDocuments } from '../../wire/messages/embedding_messages.js'
import { decodeMessage, encodeMessage } from '../../wire/messages/messages.js'

/**
 * Calls that find the refused texts of one slice, by bisection. 64 texts with three bad ones take 18. Above
 * it the remaining texts count as refused.
 */
const EMBEDDING_REFUSALS_MAX = 24

/** `partly`: more texts of the document follow. */
export type Outcome =
  | { readonly kind: 'embedded'; readonly chunks: number }
  | { readonly kind: 'skipped' | 'partly' }
  | { readonly kind: 'failed'; readonly reason: string }

export interface SliceResult {
  /** Outcomes of the first documents, in order; undefined for one that has to be tried again. */
  readonly outcomes: readonly (Outcome | undefined)[]
  /** The store has been replaced: none of the docids is valid. */
  readonly isOther: boolean
  /** Why the provider returned no vectors for some documents. */
  readonly unavailable: EmbeddingError | undefined
  /** Why the first document could not be read; nothing was tried then. */
  readonly unread: string | undefined
}

interface Cuts {
  readonly isOther: boolean
  readonly cuts: readonly CutDocument[]
  readonly unread: string | undefined
}

const OTHER: SliceResult = { outcomes: [], isOther: true, unavailable: undefined, unread: undefined }

type Stored = CutDocument['document']

/** A document in progress, with the vectors of its texts as they arrive. */
interface Wanting {
  readonly cut: CutDocument
  readonly vectors: (Float32Array | undefined)[]
  /** Why the provider will never embed one of its texts. */
  refused: string | undefined
}

interface WantedText {
  readonly of: Wanting
  readonly at: number
}

export class EmbeddingSlices {
  constructor(
    readonly dispatcher: Dispatcher,
    readonly telemetry: Telemetry,
  ) {}

  /**
   * @param signal aborts the provider's part; vectors that it has returned are stored nevertheless, if the
   * store takes them at once
   * @throws Refused if the lanes cannot be called now, or do not take the vectors and the signal is aborted
   */
  async run(provider: EmbeddingProvider, { epoch, documents }: NamedDocuments, signal: AbortSignal): Promise<SliceResult> {
    const { isOther, cuts, unread } = await this.#cut(provider, epoch, documents)
    if (isOther) return OTHER
    if (unread !== undefined) return { outcomes: [undefined], isOther: false, unavailable: undefined, unread }
    const wanting = cuts.map((cut): Wanting => ({
      cut,
      vectors: new Array<undefined>(cut.texts.length).fill(undefined),
      refused: undefined,
    }))
    const unavailable = await new Round(provider, signal, this.telemetry).embed(wanting)
    const stored = wanting.map(storable)
    const settled = await this.#store(
      epoch,
      stored.flatMap((document) => document ?? []),
      signal,
    )
    if (settled === undefined) return OTHER
    const outcomes = wanting.map((each, at) => (stored[at] === undefined ? undefined : outcomeOf(each)))
    this.#count(wanting, outcomes)
    return { outcomes, isOther: false, unavailable, unread: undefined }
  }

  /**
   * Gives up embedding the documents.
   * @param signal ends the attempts
   * @param job id of a bulk ingest, whose record counts them; empty: none
   * @returns the number of them that have waited
   * @throws Refused
   */
  async giveUp({ epoch, documents }: NamedDocuments, signal: AbortSignal, job = ''): Promise<number> {
    const kept = documents.map(({ collection, docid, queued }) => ({ collection, docid, queued: BigInt(queued), change: 'keep' }) as const)
    return (await this.#store(epoch, kept, signal, job)) ?? 0
  }

  /**
   * Cuts one document at a time if one of them cannot be read. A damaged one is not embedded, and the lane
   * has logged the reason. One whose body is in a store that does not respond waits.
   */
  async #cut(provider: EmbeddingProvider, epoch: string, documents: readonly NamedDocument[]): Promise<Cuts> {
    const { variant, dimensions, batchMax } = provider
    const answer = await ask(this.dispatcher, embeddingInputs, { epoch, documents, texts: batchMax, variant, dimensions })
    if (answer.code === null) {
      const { isOther, documents: cuts } = decodeMessage<CutDocuments>(answer.body as Uint8Array)
      return { isOther, cuts, unread: undefined }
    }
    const reason = Buffer.from(answer.body).toString()
    const [first] = documents
    const isAway = answer.code === 'backendUnavailable'
    if ((!isFault(answer.code) && !isAway) || first === undefined) throw new Refused(embeddingInputs.name, answer.code, reason)
    if (documents.length > 1) return await this.#cut(provider, epoch, [first])
    if (isAway) return { isOther: false, cuts: [], unread: CATALOGUE.backendUnavailable.text }
    const { collection, docid, queued } = first
    const document = { collection, docid, queued: BigInt(queued), change: 'keep' } as const
    return { isOther: false, cuts: [{ outcome: 'new', document, texts: [], reused: 0 }], unread: undefined }
  }

  /**
   * Retries until the write lane has stored the vectors, because they were paid for. A full disk does not
   * keep the process from ending: the documents are still in the queue of the store.
   * @returns the number of entries settled; undefined if the store has been replaced
   * @throws Refused after a refusal while the signal is aborted
   */
  async #store(epoch: string, documents: readonly Stored[], signal: AbortSignal, job = ''): Promise<number | undefined> {
    if (documents.length === 0) return 0
    for (;;) {
      const { code, body } = await ask(this.dispatcher, storeVectors, { message: encodeMessage({ epoch, job, documents }) })
      const text = Buffer.from(body).toString()
      if (code === null) {
        const { settled, isOther } = JSON.parse(text) as { readonly settled: number; readonly isOther: boolean }
        return isOther ? undefined : settled
      }
      if (!isUnavailable(code) || signal.aborted) throw new Refused(storeVectors.name, code, text)
      await setTimeout(EMBEDDING_STORE_RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  #count(wanting: readonly Wanting[], outcomes: readonly (Outcome | undefined)[]): void {
    for (const [at, { cut }] of wanting.entries()) {
      const kind = outcomes[at]?.kind
      if (kind === 'embedded') this.telemetry.add('documents_embedded', 1)
      if (kind === 'failed') this.telemetry.add('documents_not_embedded', 1)
      if (kind !== undefined) this.telemetry.add('chunks_not_embedded_again', cut.reused)
    }
  }
}

/** The provider's part of a slice. */
class Round {
  #refusals = 0
  #unavailable: EmbeddingError | undefined

  constructor(
    readonly provider: EmbeddingProvider,
    readonly signal: AbortSignal,
    readonly telemetry: Telemetry,
  ) {}

  /** @returns why it ended before all texts had been tried */
  async embed(wanting: readonly Wanting[]): Promise<EmbeddingError | undefined> {
    const texts = wanting.flatMap((of) => of.cut.texts.map((_, at): WantedText => ({ of, at })))
    const { batchMax } = this.provider
    for (let begin = 0; begin < texts.length; begin += batchMax) await this.#embed(texts.slice(begin, begin + batchMax))
    return this.#unavailable
  }

  /**
   * A batch that is refused is halved until the refused text is found. The other texts are embedded, each
   * once.
   */
  async #embed(all: readonly WantedText[]): Promise<void> {
    const texts = all.filter(({ of }) => of.refused === undefined)
    if (texts.length === 0 || this.#unavailable !== undefined) return
    try {
      const vectors = await this.provider.embed(
        texts.map(({ of, at }) => of.cut.texts[at] as string),
        'document',
        this.signal,
      )
      this.telemetry.add('texts_embedded', texts.length)
      const { dimensions } = this.provider
      texts.forEach(({ of, at }, row) => (of.vectors[at] = vectors.subarray(row * dimensions, (row + 1) * dimensions)))
    } catch (error) {
      if (!(error instanceof EmbeddingError)) throw error
      if (error.kind === 'unavailable') this.#unavailable = error
      else if (texts.length === 1 || ++this.#refusals > EMBEDDING_REFUSALS_MAX) for (const { of } of texts) of.refused = error.message
      else {
        const half = Math.ceil(texts.length / 2)
        await this.#embed(texts.slice(0, half))
        await this.#embed(texts.slice(half))
      }
    }
  }
}

/** The part of a document that can be stored; undefined: nothing yet. */
function storable({ cut, vectors, refused }: Wanting): Stored | undefined {
  const { document } = cut
  if (document.change !== 'set') return document
  const { collection, docid, queued } = document
  const there = [...vectors.keys()].filter((at) => vectors[at] !== undefined)
  if (refused !== undefined) return { collection, docid, queued, change: 'keep' }
  if (there.length === 0 && vectors.length > 0) return undefined
  const given = new Uint32Array(document.given.slice().buffer)
  const all = new Float32Array(there.length * document.dimensions)
  there.forEach((at, row) => all.set(vectors[at] as Float32Array, row * document.dimensions))
  return {
    ...document,
    isWhole: document.isWhole && there.length === vectors.length,
    given: new Uint8Array(new Uint32Array(there.map((at) => given[at] as number)).buffer),
    vectors: new Uint8Array(all.buffer),
  }
}

function outcomeOf({ cut, vectors, refused }: Wanting): Outcome {
  const { document, outcome } = cut
  if (refused !== undefined) return { kind: 'failed', reason: refused }
  if (outcome !== 'new') return { kind: 'skipped' }
  if (document.change !== 'set') return { kind: 'failed', reason: 'the document can not be read' }
  if (!document.isWhole || vectors.includes(undefined)) return { kind: 'partly' }
  return { kind: 'embedded', chunks: document.hashes.length / 8 }
}
