/**
 * The configuration of a collection: its fields, how a change is merged into the stored configuration, and
 * how it is shown. A field that a change does not name is kept; null clears it; false is a value. Credentials
 * are kept apart from what is shown: an empty one in a change keeps the stored one. Rules: service-2,
 * "Collection configuration", and docs/decisions/documents/collections.md. Pure; merged on the write lane,
 * shown on any.
 */
import { badRequest } from '../../errors.js'
import { OVERSAMPLE_MAX } from '../../limits/documents.js'
import { KIB, MIB } from '../../limits/units.js'
import type { S3Location } from '../../outbound/s3_location.js'
import { checkLocation, refuseCredentials, S3LocationError } from '../../outbound/s3_location.js'

/**
 * Bytes of the configuration of one collection as JSON: sixteen of the largest response prompts. Lists of
 * 10 000 collections contain only the members that were set.
 */
const COLLECTION_CONFIG_BYTES_MAX = 64 * KIB
/** UTF-8 bytes. Fixed by the contract. */
const RESPONSE_PROMPT_BYTES_MAX = 4 * KIB
/** Maximum of `maxRevisions`: one revision a second for eleven days. */
const REVISIONS_KEPT_MAX = 1_000_000
/** Maximum of the `topK` of a retrieval profile. Fixed by the contract. */
const TOP_K_MAX = 1000
/** Maximum of `contextTokenBudget`: as many tokens as the largest answer has. */
const CONTEXT_TOKENS_MAX = 64 * MIB

interface StorageConfig {
  readonly endpoint?: string
  readonly bucket?: string
  readonly region?: string
  readonly accessKey?: string
  readonly secretKey?: string
  readonly prefix?: string
  readonly useTLS?: boolean
}

/** A content-management system used with the service. */
interface CmsConfig {
  readonly url?: string
  readonly apiKey?: string
}

export interface RetrievalProfile {
  readonly defaultSearchType?: string
  readonly topK?: number
  readonly retrievalMode?: string
  readonly hybridStrategy?: string
  readonly hybridAlpha?: number
  readonly hybridAlphaSet?: boolean
  readonly oversample?: number
  readonly contextTokenBudget?: number
}

/** As stored: only fields that were set. */
export interface CollectionConfig {
  readonly type?: string
  readonly description?: string
  readonly icon?: string
  readonly color?: string
  readonly customMeta?: Readonly<Record<string, unknown>>
  readonly storageBackend?: string
  readonly storageConfig?: StorageConfig
  readonly maxRevisions?: number
  readonly retrieval?: RetrievalProfile
  readonly responsePrompt?: string
  readonly trackAccess?: boolean
  readonly trackHot?: boolean
  readonly spellCorrect?: boolean
  readonly spellLang?: string
  readonly quantization?: string
  readonly disk_only_vectors?: boolean
  readonly encrypted?: boolean
  readonly cms?: CmsConfig
}

type ConfigField = keyof CollectionConfig

/** In the order in which a configuration is shown. */
const CONFIG_FIELDS: readonly ConfigField[] = [
  'type', 'description', 'icon', 'color', 'customMeta', 'storageBackend', 'storageConfig', 'maxRevisions', 'retrieval', 'responsePrompt', 'trackAccess', 'trackHot',
  'spellCorrect', 'spellLang', 'quantization', 'disk_only_vectors', 'encrypted', 'cms',
] // prettier-ignore

/** Where bodies are stored and whether they are sealed concerns the server, not its collection alone. */
export const SERVER_ADMIN_FIELDS = ['storageBackend', 'storageConfig', 'encrypted'] as const satisfies readonly ConfigField[]

export interface ConfigChange {
  readonly values: CollectionConfig
  /** Fields to clear. */
  readonly cleared: readonly ConfigField[]
}

const TYPES = ['default', 'website', 'images', 'audio', 'documents', 'scraping']
const SEARCH_TYPES = ['fts', 'vector', 'hybrid']
const RETRIEVAL_MODES = ['parent', 'chunk', 'window']
const STRATEGIES = ['alpha', 'rrf']
const SMALL_QUANTIZATIONS = ['int8', 'int4']

/** The body of a PUT: the fields of the configuration, and their aliases. */
type ConfigInput = CollectionConfig & { readonly diskOnlyVectors?: boolean; readonly wordpress?: CmsConfig }

/** Aliases of fields. */
const SPELLINGS: Readonly<Record<string, ConfigField>> = { diskOnlyVectors: 'disk_only_vectors', wordpress: 'cms' }

/** @param nulls fields that the request sets to null @throws ServiceError 400 */
export function readChange(input: ConfigInput, nulls: readonly string[]): ConfigChange {
  const { diskOnlyVectors, wordpress } = input
  if (diskOnlyVectors !== undefined && input.disk_only_vectors !== undefined && diskOnlyVectors !== input.disk_only_vectors)
    throw badRequest('invalid disk_only_vectors: diskOnlyVectors says otherwise')
  const given: CollectionConfig = {
    ...(diskOnlyVectors === undefined ? {} : { disk_only_vectors: diskOnlyVectors }),
    ...(wordpress === undefined ? {} : { cms: wordpress }),
    ...input,
  }
  const values = pick<CollectionConfig>(given, CONFIG_FIELDS)
  const cleared = nulls.map((name) => SPELLINGS[name] ?? name).filter((name): name is ConfigField => isField(name) && !(name in values))
  return { values, cleared }
}

function isField(name: string): name is ConfigField {
  return (CONFIG_FIELDS as readonly string[]).includes(name)
}

/** @throws ServiceError 400 if the result is not a configuration that this server can apply */
export function mergeConfig(stored: CollectionConfig, { values, cleared }: ConfigChange): CollectionConfig {
  const { storageConfig, cms, retrieval, ...plain } = values
  const merged: CollectionConfig = {
    ...stored,
    ...plain,
    ...(storageConfig === undefined ? {} : { storageConfig: mergeStorage(stored.storageConfig, storageConfig) }),
    ...(cms === undefined ? {} : { cms: mergeCms(stored.cms, cms) }),
    ...(retrieval === undefined ? {} : { retrieval: pick(retrieval, RETRIEVAL_FIELDS) }),
  }
  const kept = pick<CollectionConfig>(
    merged,
    CONFIG_FIELDS.filter((name) => !cleared.includes(name)),
  )
  checkConfig(kept)
  return kept
}

/** The location that a storage block describes. */
export function locationOf({
  endpoint = '',
  bucket = '',
  region,
  accessKey = '',
  secretKey = '',
  prefix,
  useTLS,
}: StorageConfig): S3Location {
  return {
    endpoint,
    bucket,
    ...(region === undefined ? {} : { region }),
    accessKey,
    secretKey,
    ...(prefix === undefined ? {} : { prefix }),
    ...(useTLS === undefined ? {} : { useTLS }),
  }
}

/** The fields of a block without its credential. */
const STORAGE_FIELDS: readonly (keyof StorageConfig)[] = ['endpoint', 'bucket', 'region', 'accessKey', 'prefix', 'useTLS']
const CMS_FIELDS: readonly (keyof CmsConfig)[] = ['url']
const RETRIEVAL_FIELDS: readonly (keyof RetrievalProfile)[] = [
  'defaultSearchType', 'topK', 'retrievalMode', 'hybridStrategy', 'hybridAlpha', 'hybridAlphaSet', 'oversample', 'contextTokenBudget',
] // prettier-ignore

/** The block as given, with the stored credential if the given one is empty. */
function mergeStorage(stored: StorageConfig | undefined, given: StorageConfig): StorageConfig {
  const secretKey = given.secretKey || stored?.secretKey
  return { ...pick(given, STORAGE_FIELDS), ...(secretKey ? { secretKey } : {}) }
}

function mergeCms(stored: CmsConfig | undefined, given: CmsConfig): CmsConfig {
  const apiKey = given.apiKey || stored?.apiKey
  return { ...pick(given, CMS_FIELDS), ...(apiKey ? { apiKey } : {}) }
}

function pick<Of extends object>(from: Of, names: readonly (keyof Of)[]): Of {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]])) as Of
}

function checkConfig(config: CollectionConfig): void {
  const { type, maxRevisions, responsePrompt, retrieval } = config
  checkWord('type', type, TYPES)
  checkStorage(config)
  if (maxRevisions !== undefined && !isWithin(maxRevisions, 0, REVISIONS_KEPT_MAX))
    throw badRequest(`invalid maxRevisions: must be from 0 to ${REVISIONS_KEPT_MAX}`)
  const promptBytes = Buffer.byteLength(responsePrompt ?? '')
  if (promptBytes > RESPONSE_PROMPT_BYTES_MAX)
    throw badRequest(`invalid responsePrompt: ${promptBytes} bytes, at most ${RESPONSE_PROMPT_BYTES_MAX} are allowed`)
  if (retrieval !== undefined) checkRetrieval(retrieval)
  checkVectors(config)
  const bytes = Buffer.byteLength(JSON.stringify(config))
  if (bytes > COLLECTION_CONFIG_BYTES_MAX)
    throw badRequest(`invalid configuration: ${bytes} bytes, at most ${COLLECTION_CONFIG_BYTES_MAX} are allowed`)
}

/** A configuration that the server could not apply is rejected, not stored. */
function checkStorage({ storageBackend, storageConfig }: CollectionConfig): void {
  if (storageBackend !== undefined && !['boltdb', 'memory', 's3'].includes(storageBackend))
    throw badRequest('invalid storageBackend: must be boltdb, memory, or s3')
  if (storageBackend === 's3' && (!storageConfig?.endpoint || !storageConfig.bucket))
    throw badRequest('s3 storageBackend requires storageConfig with endpoint and bucket')
  if (storageConfig !== undefined) checkStorageLocation(storageConfig, storageBackend === 's3')
}

/** @param isUsed false: the location is only stored, so it may be incomplete; it is shown nevertheless */
function checkStorageLocation(config: StorageConfig, isUsed: boolean): void {
  try {
    refuseCredentials(config.endpoint ?? '')
    if (isUsed) checkLocation(locationOf(config))
  } catch (error) {
    if (!(error instanceof S3LocationError)) throw error
    throw badRequest(`invalid storageConfig: ${error.message}`)
  }
}

function checkVectors({ quantization, disk_only_vectors: isDiskOnly }: CollectionConfig): void {
  if (quantization !== undefined && quantization !== 'float32' && !SMALL_QUANTIZATIONS.includes(quantization))
    throw badRequest('invalid quantization: must be float32, int8, or int4')
  if (isDiskOnly === true && !SMALL_QUANTIZATIONS.includes(quantization ?? ''))
    throw badRequest('diskOnlyVectors requires quantization (int8 or int4)')
}

function checkRetrieval(profile: RetrievalProfile): void {
  checkWord('retrieval.defaultSearchType', profile.defaultSearchType, SEARCH_TYPES)
  checkWord('retrieval.retrievalMode', profile.retrievalMode, RETRIEVAL_MODES)
  checkWord('retrieval.hybridStrategy', profile.hybridStrategy, STRATEGIES)
  checkRange('retrieval.topK', profile.topK, 1, TOP_K_MAX)
  checkRange('retrieval.hybridAlpha', profile.hybridAlpha, 0, 1)
  checkRange('retrieval.oversample', profile.oversample, 1, OVERSAMPLE_MAX)
  checkRange('retrieval.contextTokenBudget', profile.contextTokenBudget, 0, CONTEXT_TOKENS_MAX)
}

function checkWord(field: string, value: string | undefined, words: readonly string[]): void {
  if (value !== undefined && !words.includes(value)) throw badRequest(`invalid ${field}: must be ${listOf(words)}`)
}

/** `a, b, or c`, the list format of the contract. */
function listOf(words: readonly string[]): string {
  return words.length === 2 ? words.join(' or ') : `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`
}

function checkRange(field: string, value: number | undefined, min: number, max: number): void {
  if (value !== undefined && !isWithin(value, min, max)) throw badRequest(`invalid ${field}: must be from ${min} to ${max}`)
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max
}

/** As shown in answers: credentials are empty, with flags that tell whether they are set. */
export function showConfig(config: CollectionConfig): Readonly<Record<string, unknown>> {
  const { storageConfig, cms, disk_only_vectors: isDiskOnly, ...plain } = config
  return {
    type: 'default',
    ...plain,
    ...(isDiskOnly === undefined ? {} : { disk_only_vectors: isDiskOnly, diskOnlyVectors: isDiskOnly }),
    ...(storageConfig === undefined
      ? {}
      : { storageConfig: { ...storageConfig, secretKey: '', secretKeySet: storageConfig.secretKey !== undefined } }),
    ...(cms === undefined ? {} : { cms: { ...cms, apiKey: '', apiKeySet: cms.apiKey !== undefined } }),
  }
}
