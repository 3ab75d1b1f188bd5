/**
 * The options of imports of wikis, a part of the table of options (options.ts). Pure data; main thread, at
 * start.
 */
import { GIB, KIB } from '../../limits/units.js'
import type { Option } from './option.js'
import { parseBytes, parseWhole } from './values.js'

/** Imported pages and decompressed bytes of one dump, where nothing is configured: those of the contract. */
const WIKI_PAGES_DEFAULT = 500_000
const WIKI_BYTES_DEFAULT = 4 * GIB
/** Ten of the largest wiki. */
const WIKI_PAGES_MAX = 1_000_000_000
/** A smaller dump has no page. */
const WIKI_BYTES_MIN = KIB
/** The largest wiki has 100 GB without its history. */
const WIKI_BYTES_MAX = 1024 * GIB

export interface WikiOptionValues {
  /** Imported pages of one dump. */
  readonly wikiPagesMax: number
  /** Bytes of one dump, decompressed. */
  readonly wikiBytesMax: number
}

export const WIKI_OPTIONS: { readonly [Name in keyof WikiOptionValues]: Option<WikiOptionValues[Name]> } = {
  wikiPagesMax: {
    flag: 'wiki-max-pages',
    variables: ['SVC_WIKI_MAX_PAGES'],
    yaml: ['wiki.maxPages'],
    fallback: WIKI_PAGES_DEFAULT,
    parse: parseWhole(1, WIKI_PAGES_MAX),
    help: 'number of pages that POST /v1/import-wiki imports from one dump at most',
  },
  wikiBytesMax: {
    flag: 'wiki-max-decompressed-bytes',
    variables: ['SVC_WIKI_MAX_DECOMPRESSED_BYTES'],
    yaml: ['wiki.maxDecompressedBytes'],
    fallback: WIKI_BYTES_DEFAULT,
    parse: parseBytes(WIKI_BYTES_MIN, WIKI_BYTES_MAX),
    help: 'size in bytes of a dump for POST /v1/import-wiki, decompressed',
  },
}
