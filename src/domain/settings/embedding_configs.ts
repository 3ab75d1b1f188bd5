/**
 * Stored embedding configurations: their fields, how a change is merged, which one is the default, and how
 * they are shown. They are settings of the server. The API key is stored sealed in a row of its own. Only the
 * front end's request for the active configuration reads it: a list of configurations never touches a key,
 * and works without it. Rules: service-2, "Embedding configurations", and docs/decisions/search/embedding.md.
 * Pure; decided on the write lane, shown on any.
 */
import { badRequest, serviceError } from '../../errors.js'
import { PROVIDER_NAMES, type ProviderName } from '../../outbound/embedding/models.js'
import type { ProviderSettings } from '../../outbound/embedding/settings.js'
import { checkSettings, isProviderName, ProviderSettingsError, urlOf } from '../../outbound/embedding/settings.js'
import { SERVER_SETTINGS, type SettingKind } from '../../store/settings.js'
import type { View } from '../../store/view.js'

/** Stored configurations of embedding providers. Each is one row in a list. */
export const EMBEDDING_CONFIGS_MAX = 64
/**
 * UTF-8 bytes of the id of a configuration, which is a part of an LMDB key and of a path, and of its name.
 */
const EMBEDDING_CONFIG_ID_BYTES_MAX = 128
const EMBEDDING_CONFIG_NAME_BYTES_MAX = 256

/** As stored. */
interface EmbeddingConfig {
  readonly id: string
  readonly name: string
  readonly provider: ProviderName
  readonly model: string
  readonly dimensions: number
  /** Empty: the provider's default. */
  readonly apiUrl: string
  readonly hasKey: boolean
  /** Unix seconds. */
  readonly createdAt: number
}

/** The fields of a request. Absent fields do not change. */
export interface EmbeddingDraft {
  readonly name?: string
  readonly provider?: string
  readonly model?: string
  readonly dimensions?: number
  readonly apiUrl?: string
  /** Empty: the stored key is kept. */
  readonly apiKey?: string
  readonly isDefault?: boolean
}

export type EmbeddingChange =
  | { readonly kind: 'createEmbedding'; readonly id: string; readonly draft: EmbeddingDraft }
  | { readonly kind: 'updateEmbedding'; readonly id: string; readonly draft: EmbeddingDraft; readonly clearsKey: boolean }
  | { readonly kind: 'deleteEmbedding'; readonly id: string }
  | { readonly kind: 'defaultEmbedding'; readonly id: string }

export function isEmbeddingChange(change: { readonly kind: string }): change is EmbeddingChange {
  return ['createEmbedding', 'updateEmbedding', 'deleteEmbedding', 'defaultEmbedding'].includes(change.kind)
}

/** A new value of a server setting. `value` null deletes it. */
export interface SettingWrite {
  readonly setting: SettingKind
  readonly id: string
  readonly value: unknown
}

interface EmbeddingDecision {
  readonly writes: readonly SettingWrite[]
  readonly status: number
  /** Undefined: an answer without a body. */
  readonly answer: unknown
}

/** The id of the default configuration is stored under this id. */
const DEFAULT = ''

/** In the order in which they were created. */
export function embeddingConfigs(view: View): readonly EmbeddingConfig[] {
  const found = view.settings(SERVER_SETTINGS, 'embedding').filter(([id]) => id !== DEFAULT)
  const configs = found.map(([, config]) => config as EmbeddingConfig)
  return configs.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
}

export function defaultEmbedding(view: View): string | undefined {
  return view.setting(SERVER_SETTINGS, 'embedding', DEFAULT) as string | undefined
}

/** @throws ServiceError 404 */
export function embeddingConfig(view: View, id: string): EmbeddingConfig {
  const config = id === DEFAULT ? undefined : view.setting(SERVER_SETTINGS, 'embedding', id)
  if (config === undefined) throw serviceError('notFound')
  return config as EmbeddingConfig
}

/**
 * Includes the key: the front end creates the active provider from it.
 * @throws CorruptRecord if the key cannot be decrypted
 */
export function activeEmbedding(view: View): (ProviderSettings & { readonly id: string }) | undefined {
  const id = defaultEmbedding(view)
  if (id === undefined) return undefined
  const { provider, model, dimensions, apiUrl, hasKey } = embeddingConfig(view, id)
  const apiKey = hasKey ? (view.setting(SERVER_SETTINGS, 'embedding-key', id) as string) : ''
  return { id, provider, model, dimensions, apiKey, apiUrl: urlOf({ provider, apiUrl }) }
}

/** As shown in answers: the key is empty, with a flag that tells whether one is set. */
export function showEmbedding({ hasKey, createdAt, ...config }: EmbeddingConfig, defaultId: string | undefined): object {
  return { ...config, apiKey: '', apiKeySet: hasKey, isDefault: config.id === defaultId, createdAt }
}

/** Checks the part of a draft that does not depend on stored data. @throws ServiceError 400 */
export function checkEmbeddingId(id: string): void {
  // `set-default` is the path of an operation. `.` and `..` are removed from paths by clients.
  if (id === 'set-default' || id === '.' || id === '..' || /[\0-\x1f\x7f/]/.test(id)) throw badRequest('invalid id')
  checkBytes('id', id, EMBEDDING_CONFIG_ID_BYTES_MAX)
}

/** @throws ServiceError 400, 404, 409; nothing is written then */
export function decideEmbedding(view: View, change: EmbeddingChange): EmbeddingDecision {
  const defaultId = defaultEmbedding(view)
  switch (change.kind) {
    case 'createEmbedding':
      return create(view, change.id, change.draft, defaultId)
    case 'updateEmbedding':
      return update(view, change, defaultId)
    case 'deleteEmbedding':
      embeddingConfig(view, change.id)
      if (change.id === defaultId) throw serviceError('embeddingConfigDefault')
      return { writes: [put(change.id, null), putKey(change.id, null)], status: 204, answer: undefined }
    case 'defaultEmbedding':
      embeddingConfig(view, change.id)
      return { writes: [put(DEFAULT, change.id)], status: 200, answer: { message: 'default config updated' } }
  }
}

function create(view: View, id: string, draft: EmbeddingDraft, defaultId: string | undefined): EmbeddingDecision {
  if (view.setting(SERVER_SETTINGS, 'embedding', id) !== undefined) throw serviceError('embeddingConfigExists')
  if (embeddingConfigs(view).length >= EMBEDDING_CONFIGS_MAX)
    throw badRequest(`too many embedding configurations: at most ${EMBEDDING_CONFIGS_MAX}`)
  const { name = '', provider = '', model = '', dimensions = 0, apiUrl = '', apiKey = '' } = draft
  const config = checked({ id, name, provider, model, dimensions, apiUrl, hasKey: apiKey !== '', createdAt: view.now }, apiKey)
  const isDefault = draft.isDefault === true
  return {
    writes: [put(id, config), ...(apiKey === '' ? [] : [putKey(id, apiKey)]), ...(isDefault ? [put(DEFAULT, id)] : [])],
    status: 201,
    answer: showEmbedding(config, isDefault ? id : defaultId),
  }
}

function update(
  view: View,
  { id, draft, clearsKey }: Extract<EmbeddingChange, { kind: 'updateEmbedding' }>,
  defaultId: string | undefined,
): EmbeddingDecision {
  const stored = embeddingConfig(view, id)
  const { apiKey = '', isDefault, ...said } = draft
  const hasKey = apiKey !== '' || (stored.hasKey && !clearsKey)
  const config = checked({ ...stored, ...said, hasKey }, apiKey)
  // A new address requires the key again. Otherwise anyone who may change a configuration could obtain its
  // masked key by having it sent to an address of their own.
  const goesElsewhere = config.provider !== stored.provider || urlOf(config) !== urlOf(stored)
  if (goesElsewhere && hasKey && apiKey === '') throw badRequest('apiKey is needed again with another provider or apiUrl')
  const next = isDefault === undefined ? defaultId : isDefault ? id : defaultId === id ? undefined : defaultId
  return {
    writes: [
      put(id, config),
      ...(apiKey !== '' ? [putKey(id, apiKey)] : stored.hasKey && !hasKey ? [putKey(id, null)] : []),
      ...(next === defaultId ? [] : [put(DEFAULT, next ?? null)]),
    ],
    status: 200,
    answer: showEmbedding(config, next),
  }
}

/** @throws ServiceError 400 */
function checked(config: Omit<EmbeddingConfig, 'provider'> & { readonly provider: string }, apiKey: string): EmbeddingConfig {
  const { id, name, provider, model, dimensions, apiUrl, hasKey, createdAt } = config
  if (name === '') throw serviceError('missingFields')
  checkBytes('name', name, EMBEDDING_CONFIG_NAME_BYTES_MAX)
  if (!isProviderName(provider)) throw badRequest(`invalid provider: must be one of ${PROVIDER_NAMES.join(', ')}`)
  try {
    checkSettings({ provider, model, dimensions, apiKey, apiUrl })
  } catch (error) {
    if (!(error instanceof ProviderSettingsError)) throw error
    throw badRequest(`invalid ${error.field}: ${error.message}`)
  }
  return { id, name, provider, model, dimensions, apiUrl, hasKey, createdAt }
}

function checkBytes(field: string, text: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > bytesMax) throw badRequest(`invalid ${field}: ${bytes} bytes, at most ${bytesMax} are allowed`)
}

function put(id: string, value: unknown): SettingWrite {
  return { setting: 'embedding', id, value }
}

function putKey(id: string, value: unknown): SettingWrite {
  return { setting: 'embedding-key', id, value }
}
