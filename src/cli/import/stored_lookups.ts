/**
 * What a collection has of the documents of a source, read as cheaply as the source is small: a few documents
 * are asked for one by one, more by the export of the whole collection. Main thread of the CLI.
 */
import { errorText, send } from '../client.js'
import type { DocumentItem, ImportDocument, ImportSource, SourceItem } from '../files/document.js'
import { ImportStopped, patiently, ServerBusy } from './patience.js'
import { readStored, storedAs, type StoredDocuments, WRITE_ONLY } from './stored_documents.js'

/** Documents that are asked for singly: 0.4 s, as long as an export of 5 000 documents takes. */
const LOOKED_UP_MAX = 100
/** Bytes of documents, and problems between them, that wait until it is known how many there are. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024
const WAITING_ITEMS_MAX = 1_000
/** Requests in flight. */
const LOOK_UPS_AT_ONCE = 4

interface Collection {
  readonly url: string
  readonly collection: string
  /** Called with the reason before something is asked for again. */
  readonly onWait: (reason: string) => void
}

/** @param stored filled before the source gives its first item */
export function lookUpFirst(source: ImportSource, stored: StoredDocuments, asked: Collection): ImportSource {
  return {
    ...source,
    async *items(after) {
      const items = source.items(after)
      try {
        const { waiting, isWhole, failure } = await readAhead(items)
        const found = isWhole ? await lookUp(waiting, asked) : (await readStored(asked.url, asked.collection, asked.onWait)).documents
        for (const [identity, document] of found) stored.set(identity, document)
        yield* waiting
        if (failure !== undefined) throw failure.cause
        yield* items
      } finally {
        await items.return(undefined)
      }
    },
  }
}

interface Ahead {
  readonly waiting: readonly SourceItem[]
  /** There is nothing behind them. */
  readonly isWhole: boolean
  /** Why the source ends behind them. */
  readonly failure?: { readonly cause: unknown }
}

async function readAhead(items: AsyncGenerator<SourceItem>): Promise<Ahead> {
  const waiting: SourceItem[] = []
  let documents = 0
  let bytes = 0
  while (documents <= LOOKED_UP_MAX && bytes <= WAITING_BYTES_MAX && waiting.length <= WAITING_ITEMS_MAX) {
    const next = await items.next().catch((cause: unknown) => ({ cause }))
    if ('cause' in next) return { waiting, isWhole: true, failure: next }
    if (next.done === true) return { waiting, isWhole: true }
    waiting.push(next.value)
    if (next.value.kind !== 'document') continue
    documents += 1
    bytes += next.value.jsonBytes
  }
  return { waiting, isWhole: false }
}

async function lookUp(items: readonly SourceItem[], asked: Collection): Promise<StoredDocuments> {
  const left = [...new Map(items.filter((item) => item.kind === 'document').map((item) => [item.identity, item])).values()]
  const found: StoredDocuments = new Map()
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) {
      const answer = await ask(item, asked)
      // Who may not read sends everything.
      if (answer === 'forbidden') left.length = 0
      else if (answer !== undefined) found.set(item.identity, storedAs(answer))
    }
  }
  await Promise.all(Array.from({ length: LOOK_UPS_AT_ONCE }, work))
  return found
}

/** Undefined if the server does not have it. */
function ask({ document }: DocumentItem, { url, collection, onWait }: Collection): Promise<ImportDocument | 'forbidden' | undefined> {
  const body = JSON.stringify({ collection, key: document.key, lang: document.lang })
  return patiently(async () => {
    const reply = await send(url, 'POST', '/v1/get', body)
    if (reply.status === 503) throw new ServerBusy(errorText(reply), reply.retryAfterMs)
    if (WRITE_ONLY.includes(reply.status)) return 'forbidden'
    // A key that the server refuses is refused again where it is written, with the name of its document.
    if (reply.status === 404 || reply.status === 400) return undefined
    if (reply.status !== 200) throw new ImportStopped(`the server answers ${reply.status}: ${errorText(reply)}`)
    return JSON.parse(reply.text) as ImportDocument
  }, onWait)
}
