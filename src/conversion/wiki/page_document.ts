/**
 * The documents that the pages of a dump become, and which pages are left out. A page is counted exactly
 * once. Pure, except for the source of pages; shared by the command line and the server.
 */
import type { WikiPage } from './page_builder.js'
import { pageKey } from './page_key.js'
import { convertWikitext } from './wikitext.js'

export interface WikiDocument {
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly contentMd: string
}

export interface WikiOptions {
  readonly lang: string
  readonly namespaces: ReadonlySet<number>
  readonly skipRedirects: boolean
  /** Of pages that are imported; 0 is no bound. */
  readonly maxPages: number
}

export interface WikiCounts {
  /** Pages that were read. The others add up to it. */
  pages: number
  imported: number
  failed: number
  otherNamespace: number
  redirects: number
  empty: number
}

export const noPages = (): WikiCounts => ({ pages: 0, imported: 0, failed: 0, otherNamespace: 0, redirects: 0, empty: 0 })

export type WikiItem = { readonly title: string; readonly document: WikiDocument } | { readonly title: string; readonly problem: string }

/**
 * Yields the documents in the order of the dump; of two titles with one key the later one follows. Ends
 * without reading on when `maxPages` documents were yielded.
 * @param counts changed before each item is yielded. Pages that it has already are passed over.
 */
export async function* wikiDocuments(pages: AsyncIterable<WikiPage>, options: WikiOptions, counts: WikiCounts): AsyncGenerator<WikiItem> {
  let passed = 0
  const isFull = (): boolean => options.maxPages > 0 && counts.imported >= options.maxPages
  if (isFull()) return
  for await (const page of pages) {
    if (passed < counts.pages) passed++
    else {
      passed = ++counts.pages
      const item = readPage(page, options, counts)
      if (item !== undefined) yield item
      if (isFull()) return
    }
  }
}

function readPage(page: WikiPage, options: WikiOptions, counts: WikiCounts): WikiItem | undefined {
  const { title, text } = page
  if (!options.namespaces.has(page.namespace)) counts.otherNamespace++
  else if (options.skipRedirects && page.redirect !== undefined) counts.redirects++
  else if (text === undefined) {
    counts.failed++
    return { title, problem: 'its text is longer than a document may be' }
  } else {
    const contentMd = convertPage(page, text)
    const key = pageKey(title)
    if (contentMd === '') counts.empty++
    else if (key === '') {
      counts.failed++
      return { title, problem: 'its title gives an empty key' }
    } else {
      counts.imported++
      return { title, document: { key, lang: options.lang, meta: pageMeta(page), contentMd } }
    }
  }
  return undefined
}

/** The `#` of a redirect is not an item of a list. */
function convertPage({ redirect, dropped }: WikiPage, text: string): string {
  return convertWikitext(redirect === undefined ? text : text.replace(/^\s*#/, ''), dropped)
}

function pageMeta(page: WikiPage): Record<string, readonly string[]> {
  const meta = {
    source: 'wikipedia',
    wiki_id: page.id,
    wiki_title: page.title,
    wiki_ns: String(page.namespace),
    wiki_rev_id: page.revisionId,
    wiki_timestamp: page.timestamp,
    wiki_contributor: page.contributor,
    wiki_redirect: page.redirect ?? '',
  }
  return Object.fromEntries(Object.entries(meta).flatMap(([key, value]) => (value === '' ? [] : [[key, [value]]])))
}
