/**
 * Preparation of a write: everything that depends only on the document itself, not on the state of the store.
 * Checks, escapes, compresses and analyses. Runs on a read or the bulk lane, and on the write lane when a
 * command must be prepared again.
 */
import { encodeUpsert } from '../../engine/search/index_batch.js'
import { badRequest } from '../../errors.js'
import { DOCUMENT_BYTES_MAX } from '../../limits/documents.js'
import type { Compression } from '../../store/body.js'
import { encodeBody, escapeContent } from '../../store/body.js'
import { contentHash } from '../../store/document_hash.js'
import { HEAD_FLAGS } from '../../store/head.js'
import type { NewBody, PreparedDocument, SharedBody, StatedTimes } from '../commands.js'
import { type AnalysisSettings, type AnalysisTools, indexedTexts } from '../documents/analysis.js'
import { checkIdentity } from '../documents/identity.js'
import type { Metadata } from '../documents/metadata.js'
import { parseMetadata } from '../documents/metadata.js'
import { type Draft, type Enriched, enriched } from './enrichment.js'
import { requireSchema, type WriteRules } from './write_rules.js'

/** Seconds. 100 years: a later expiry is a mistake in the unit. */
const TTL_SECONDS_MAX = 100 * 365 * 86_400
/**
 * Unix seconds that a write may state as `addedAt` and `updatedAt`. Records of histories end at this value,
 * in the year 2106.
 */
const STATED_TIME_MAX = 0xffff_ffff
/** Unix seconds that a write may state as `expiresAt`: the latest expiry that a `ttl` can lead to. */
const STATED_EXPIRY_MAX = STATED_TIME_MAX + TTL_SECONDS_MAX

/** The server options for the compression of contents. */
interface CompressionSettings {
  readonly compressionEnabled: boolean
  /** Contents below this size are stored uncompressed. */
  readonly compressionSmallBytes: number
  /**
   * Contents from the small threshold up to this size get the light compression, larger ones the strong one.
   */
  readonly compressionMediumBytes: number
}

export interface PreparationTools extends AnalysisTools {
  readonly config: AnalysisSettings & CompressionSettings
  /** Whether an embedding provider is configured. Default: none. */
  readonly embedding?: { readonly current: object | undefined }
}

interface DocumentInput extends Draft {
  readonly key: string
  readonly lang: string
  /** The collection's requirements for its documents. */
  readonly rules: WriteRules
  /** Seconds; 0: no expiry; null: the expiry does not change. */
  readonly ttl: number | null
  /** Unix seconds; 0 and undefined: `ttl` applies. */
  readonly expiresAt?: number
  readonly times?: StatedTimes
  readonly saveRevision: boolean
  /**
   * The document's text is not indexed for full-text search; its metadata pairs are. Default: both are
   * indexed.
   */
  readonly skipsFullText?: boolean
  /** No vectors are computed for this state. Default: as the server does. */
  readonly skipsEmbedding?: boolean
  readonly skipsWebhooks?: boolean
  /** The content is that of an earlier state, which is already stored. */
  readonly sharedBody?: SharedBody
  /** False if the answer does not contain the document. */
  readonly answered: boolean
}

/** @throws ServiceError 400 for anything outside the rules; there are no side effects then */
export function prepareDocument(tools: PreparationTools, input: DocumentInput): PreparedDocument {
  return prepareEnriched(tools, input, enriched(input))
}

/** The same, for callers that have looked at the enriched document. */
export function prepareEnriched(
  tools: PreparationTools,
  input: Omit<DocumentInput, keyof Draft>,
  { contentMd, meta }: Enriched,
): PreparedDocument {
  checkIdentity(input.key, input.lang)
  if (input.ttl !== null) checkTtl(input.ttl)
  checkStated(input)
  const metadata = parseMetadata(meta)
  requireSchema(input.rules, metadata.values)
  const bytes = Buffer.byteLength(contentMd)
  if (bytes > DOCUMENT_BYTES_MAX) throw badRequest(`invalid contentMd: ${bytes} bytes, at most ${DOCUMENT_BYTES_MAX} are allowed`)
  const escaped = escapeContent(contentMd)
  const template = contentMd.includes('%%') ? HEAD_FLAGS.template : 0
  const revision = input.saveRevision ? HEAD_FLAGS.revision : 0
  const textSkipped = input.skipsFullText === true ? HEAD_FLAGS.textSkipped : 0
  return {
    key: input.key,
    lang: input.lang,
    meta: metadata.json,
    metaTriples: metadata.pairs.length,
    settingsLsn: input.rules.settingsLsn,
    sealedIn: input.rules.sealedIn ?? 0,
    flags: template | revision | textSkipped,
    contentHash: contentHash({ key: input.key, lang: input.lang, meta: metadata.json }, escaped),
    body: input.sharedBody ?? newBody(tools.config, escaped),
    escaped: input.answered ? escaped : NOTHING,
    index: Buffer.from(indexDocument(tools, input.key, input.lang, metadata, contentMd, { skipsText: textSkipped !== 0 }).buffer),
    ttl: input.ttl,
    ...(isStated(input.expiresAt) ? { expiresAt: input.expiresAt } : {}),
    ...(input.times === undefined ? {} : { times: input.times }),
    embeds: tools.embedding?.current !== undefined && input.skipsEmbedding !== true,
    ...(input.skipsWebhooks === true ? { skipsWebhooks: true } : {}),
  }
}

const NOTHING = Buffer.alloc(0)
const NOT_STATED: StatedTimes = {}

export function checkTtl(ttl: number): void {
  if (!Number.isSafeInteger(ttl) || ttl < 0 || ttl > TTL_SECONDS_MAX) throw badRequest('invalid ttl')
}

function isStated(expiresAt: number | undefined): expiresAt is number {
  return expiresAt !== undefined && expiresAt > 0
}

function checkStated({ ttl, expiresAt, times = NOT_STATED }: Pick<DocumentInput, 'ttl' | 'expiresAt' | 'times'>): void {
  if (expiresAt === undefined && times === NOT_STATED) return
  const stated = [
    ['expiresAt', expiresAt, STATED_EXPIRY_MAX],
    ['addedAt', times.addedAt, STATED_TIME_MAX],
    ['updatedAt', times.updatedAt, STATED_TIME_MAX],
  ] as const
  for (const [name, second, most] of stated)
    if (second !== undefined && !(Number.isSafeInteger(second) && second >= 0 && second <= most)) throw badRequest(`invalid ${name}`)
  if (isStated(expiresAt) && ttl !== null && ttl > 0) throw badRequest('invalid expiresAt: ttl is given, too')
}

function newBody(config: CompressionSettings, escaped: Buffer): NewBody {
  return { kind: 'new', record: encodeBody(escaped, compressionOf(config)), rawBytes: escaped.length }
}

/** The compression settings of the server. */
export function compressionOf(config: CompressionSettings): Compression {
  return {
    enabled: config.compressionEnabled,
    smallThreshold: config.compressionSmallBytes,
    mediumThreshold: config.compressionMediumBytes,
  }
}

interface IndexedAs {
  /** Replaces an index entry with the same LSN. */
  readonly replaceEqual?: boolean
  /** Index only the metadata pairs, no text. */
  readonly skipsText?: boolean
}

/**
 * The upsert of a document: the content and every metadata key are separate fields, and each metadata pair is
 * a keyword.
 * @returns bytes that own their whole buffer; collection, docid, LSN and times are zero until the stamp
 */
export function indexDocument(
  tools: PreparationTools,
  key: string,
  lang: string,
  metadata: Metadata,
  contentMd: string,
  { replaceEqual = false, skipsText = false }: IndexedAs = {},
): Uint8Array {
  const { analyzer, config } = tools
  const texts = skipsText ? [] : indexedTexts(config, { key, lang, values: metadata.values, contentMd })
  const fields = texts.map(({ name, text, options }) => [name, analyzer.analyze(Buffer.from(text, 'utf8'), options)] as const)
  return encodeUpsert({ collection: 0, key, lang, meta: metadata.pairs, fields }, { replaceEqual })
}
