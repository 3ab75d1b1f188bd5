/**
 * What the options of an import add to every document, whatever its source: a prefix of the key, metadata, a
 * title, the mark of `--sync`. Main thread of the CLI.
 */
import { firstHeading } from '../../conversion/first_heading.js'
import type { ImportDocument, ImportSource, SourceItem } from '../files/document.js'
import { documentItem } from '../files/document.js'

/** Metadata of documents that `--sync` has written: the name of their source. */
export const SOURCE_KEY = 'import_source'

export interface Additions {
  readonly keyPrefix: string
  /** The document's own metadata has priority, key by key. */
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly titles: boolean
  /** Name of the source whose documents are kept in step. */
  readonly sync?: string
}

export function prepareSource(source: ImportSource, additions: Additions): ImportSource {
  const { keyPrefix, meta, titles, sync } = additions
  if (keyPrefix === '' && Object.keys(meta).length === 0 && !titles && sync === undefined) return source
  return {
    ...source,
    async *items(after) {
      for await (const item of source.items(after)) yield prepareItem(item, additions)
    },
  }
}

function prepareItem(item: SourceItem, additions: Additions): SourceItem {
  const { keyPrefix } = additions
  if (item.kind === 'problem') return item.key === undefined ? item : { ...item, key: keyPrefix + item.key }
  const { document } = item
  const meta = { ...prepareMeta(document, additions), ...(additions.sync === undefined ? {} : { [SOURCE_KEY]: [additions.sync] }) }
  return documentItem({ ...document, key: keyPrefix + document.key, meta }, item, item.warning)
}

function prepareMeta({ meta, contentMd }: ImportDocument, additions: Additions): Record<string, unknown> {
  const title = additions.titles && !Object.hasOwn(meta, 'title') ? firstHeading(contentMd) : undefined
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return Object.fromEntries([
    ...Object.entries(additions.meta),
    ...(title === undefined ? [] : [['title', [title]] as const]),
    ...Object.entries(meta),
  ])
}
