/**
 * `--sync`: removes documents that an import under the same name has written, and that its source does not
 * have any more. Never removes others: only documents whose metadata names the source, below the prefix of
 * the keys. A file that can't be read keeps its document. Main thread of the CLI.
 */
import { errorText } from '../client.js'
import type { ImportSource } from '../files/document.js'
import { sendPatiently } from './batch_sender.js'
import { ImportStopped } from './patience.js'
import type { StoredDocument, StoredDocuments } from './stored_documents.js'

/** Documents of one request. */
const REMOVED_AT_ONCE = 1_000

export interface Removals {
  /** The source, whose items are seen as they pass. It must be read from its beginning. */
  readonly source: ImportSource
  /** Number of documents that imports under this name have written before. */
  readonly total: number
  /** What is gone, once the items are read. */
  gone(): readonly StoredDocument[]
  /** An item that had a problem and whose key is not known: its document may be any. */
  uncertain(): string | undefined
}

/** @param stored everything that the collection has */
export function openRemovals(
  source: ImportSource,
  stored: StoredDocuments,
  { sync, keyPrefix }: { readonly sync: string; readonly keyPrefix: string },
): Removals {
  const prefix = keyPrefix.toLowerCase()
  const left = new Map([...stored].filter(([, { key, source: from }]) => from === sync && key.toLowerCase().startsWith(prefix)))
  const keptKeys = new Set<string>()
  let uncertain: string | undefined
  return {
    total: left.size,
    source: {
      ...source,
      async *items(after) {
        for await (const item of source.items(after)) {
          if (item.kind === 'document') left.delete(item.identity)
          else if (item.key === undefined) uncertain ??= item.name
          else keptKeys.add(item.key.toLowerCase())
          yield item
        }
      },
    },
    gone: () => [...left.values()].filter(({ key }) => !keptKeys.has(key.toLowerCase())),
    uncertain: () => uncertain,
  }
}

/**
 * Returns why nothing may be removed, or undefined. More than half is rarely meant: a wrong folder or a wrong
 * filter looks the same.
 */
export function objectionTo(removals: Removals, isConfirmed: boolean): string | undefined {
  const item = removals.uncertain()
  if (item !== undefined) return `nothing was removed, because it is not known which document ${item} is`
  return isConfirmed ? undefined : objectionToCount(removals.gone().length, removals.total)
}

export function objectionToCount(count: number, total: number): string | undefined {
  if (count * 2 <= total) return undefined
  return `nothing was removed: ${count} of ${total} documents are gone from the source, more than half; --yes removes them`
}

/**
 * @returns the number of documents that are removed
 * @throws ImportStopped
 */
export async function removeDocuments(
  url: string,
  collection: string,
  documents: readonly StoredDocument[],
  onWait: (reason: string) => void,
): Promise<number> {
  for (let begin = 0; begin < documents.length; begin += REMOVED_AT_ONCE) {
    const some = documents.slice(begin, begin + REMOVED_AT_ONCE).map(({ key, lang }) => ({ key, lang }))
    const reply = await sendPatiently(url, '/v1/delete-batch', JSON.stringify({ collection, documents: some }), onWait)
    if (reply.status !== 200) throw new ImportStopped(`${begin} documents were removed, then: ${errorText(reply)}`)
    const { failed, errors } = JSON.parse(reply.text) as { failed?: number; errors?: readonly string[] | null }
    if (failed !== 0) throw new ImportStopped(`not all documents were removed: ${errors?.[0] ?? reply.text}`)
  }
  return documents.length
}
