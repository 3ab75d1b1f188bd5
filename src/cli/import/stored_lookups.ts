/**
 * What a collection has of the documents of a source, read as cheaply as the source is small: a few documents
 * are asked for one by one, more by the export of the whole collection. Main thread of the CLI.
 */
import { errorText, send } from '../client.js'
import type { ImportDocument, ImportSource, SourceItem } from '../files/document.js'
import { ImportStopped, patiently, ServerBusy } from './patience.js'
import { readStored, storedAs, type StoredDocument, type StoredDocuments, WRITE_ONLY } from './stored_documents.js'

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

/**
 * Of documents that a source no longer has, those that the server has and that an import with this name has
 * written last. @throws ImportStopped
 */
export async function stillOf(sync: string, documents: readonly StoredDocument[], asked: Collection): Promise<readonly StoredDocument[]> {
  const found: StoredDocument[] = []
  await eachOf([...documents], async (document) => {
    const answer = await ask(document, asked)
    if (answer === 'forbidden') throw new ImportStopped(`${asked.collection} can't be read, so nothing is removed`)
    if (answer !== undefined && storedAs(answer).source === sync) found.push(document)
  })
  return found
}

async function lookUp(items: readonly SourceItem[], asked: Collection): Promise<StoredDocuments> {
  const left = [...new Map(items.filter((item) => item.kind === 'document').map((item) => [item.identity, item])).values()]
  const found: StoredDocuments = new Map()
  await eachOf(left, async ({ identity, document }) => {
    const answer = await ask(document, asked)
    // Who may not read sends everything.
    if (answer === 'forbidden') left.length = 0
    else if (answer !== undefined) found.set(identity, storedAs(answer))
  })
  return found
}

/** Takes all of `left`, some at once. */
async function eachOf<Item>(left: Item[], take: (item: Item) => Promise<void>): Promise<void> {
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await take(item)
  }
  await Promise.all(Array.from({ length: LOOK_UPS_AT_ONCE }, work))
}

/** Undefined if the server does not have it. */
function ask(
  { key, lang }: Pick<ImportDocument, 'key' | 'lang'>,
  { url, collection, onWait }: Collection,
): Promise<ImportDocument | 'forbidden' | undefined> {
  const body = JSON.stringify({ collection, key, lang })
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
