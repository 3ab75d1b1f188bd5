/**
 * The active embedding provider. It is that of the default configuration in the store, otherwise that of the
 * options, otherwise a local Ollama detected at the start. It is created again when one of them changes,
 * whoever wrote the change, or a restore has replaced the store. Listeners are notified before a request for
 * a change is answered. Front-end thread only. Rules: docs/decisions/search/embedding.md.
 */
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Config } from '../../config/config.js'
import { refusal } from '../../dispatch/answers/answers.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { askFor, Refused } from '../../dispatch/inner_request.js'
import type { Io } from '../../dispatch/io.js'
import { isFault } from '../../errors.js'
import {
  activeEmbeddingConfig,
  createEmbeddingConfig,
  deleteEmbeddingConfig,
  setDefaultEmbeddingConfig,
  updateEmbeddingConfig,
} from '../../operations/settings/embedding_configs.js'
import { policyOf } from '../../outbound/destination.js'
import type { EmbeddingProvider } from '../../outbound/embedding/provider.js'
import type { EmbeddingObserver } from '../../outbound/embedding/remote_provider.js'
import type { ProviderSettings } from '../../outbound/embedding/settings.js'
import { isKeyMissing } from '../../outbound/embedding/settings.js'
import { Outbound } from '../../outbound/safe_fetch.js'
import type { Service } from '../../services.js'
import { log } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'

/** Pause before the front end asks again for the default configuration, if no lane could answer in time. */
const EMBEDDING_RELOAD_MS = 1000

/** The provider as /v1/config shows it. */
export interface VectorConfig {
  /** Whether there is a provider that can be called. */
  readonly enabled: boolean
  readonly provider: string
  readonly model: string
  readonly dimensions: number
  readonly apiUrl: string
}

const NO_VECTORS: VectorConfig = { enabled: false, provider: 'none', model: '', dimensions: 0, apiUrl: '' }
const CHANGES = [createEmbeddingConfig, updateEmbeddingConfig, deleteEmbeddingConfig, setDefaultEmbeddingConfig] as const
/** Also sent for changes that come by a replay or from another server. */
const NOTICED = ['setting/embedding', 'setting/embedding-key', 'store'] as const

// Loading takes 8 ms, which only a server with a provider pays (docs/decisions/operation/starting.md).
const loadProviders = (): Promise<typeof import('../../outbound/embedding/providers.js')> => import('../../outbound/embedding/providers.js')
const loadLocal = (): Promise<typeof import('./local_provider.js')> => import('./local_provider.js')
const loadOllama = (): Promise<typeof import('../../outbound/embedding/ollama.js')> => import('../../outbound/embedding/ollama.js')

export class ActiveEmbedding implements Service {
  readonly name = 'embedding-provider'
  readonly #retry: Chore
  readonly #detection: Chore
  #outbound: Outbound | undefined
  readonly #listeners: (() => void)[] = []
  #settings: ProviderSettings | undefined
  #provider: EmbeddingProvider | undefined
  #found: ProviderSettings | undefined
  #loading: Promise<void> = Promise.resolve()
  /** The configuration in the store could not be read; reading is retried. */
  #isUnread = false
  #isStopped = false
  #observed: EmbeddingObserver | undefined

  constructor(
    readonly config: Config,
    readonly dispatcher: Dispatcher,
    readonly telemetry: Telemetry,
    tools: ChoreTools,
  ) {
    this.#retry = new Chore(tools, {
      name: this.name,
      first: 'idle',
      failure: 'the embedding provider is not known yet',
      round: async (): Promise<Rest> => {
        if (this.#isUnread) await this.load()
        return 'idle'
      },
    })
    this.#retry.start()
    this.#detection = new Chore(tools, {
      name: 'embedding-detection',
      failure: 'no local embedding provider is known yet',
      round: async (): Promise<Rest> => {
        await this.autoDetect()
        return 'idle'
      },
    })
    for (const operation of CHANGES) dispatcher.onIo(operation, this.#change)
    const reload = (): void => void this.load()
    for (const topic of NOTICED) dispatcher.notices.on(topic, reload)
  }

  /** Undefined if there is none. Callers must not keep it: a change replaces it and closes the old one. */
  current(): EmbeddingProvider | undefined {
    return this.#provider
  }

  /** `listener` is called whenever `current` has changed. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  describe(): VectorConfig {
    if (this.#settings === undefined) return NO_VECTORS
    const { provider, model, dimensions, apiUrl } = this.#settings
    return { enabled: this.#provider !== undefined, provider, model, dimensions, apiUrl }
  }

  /** Called once the lanes are open. Settles when the provider is known, as far as it is configured. */
  async start(): Promise<void> {
    await this.load()
    this.#detection.start()
  }

  /** If no provider is configured, probes for a local Ollama: once, in parallel with everything else. */
  async autoDetect(): Promise<void> {
    const { embeddingProvider, embeddingAutodetect, production } = this.config
    if (embeddingProvider !== undefined || !embeddingAutodetect || production) return
    const { detectOllama, isOllamaListening } = await loadOllama()
    if (!(await isOllamaListening())) return
    this.#found = await detectOllama(await this.#guarded())
    if (this.#found !== undefined) await this.load()
  }

  /**
   * Reads the configuration once the lanes are ready, and whenever the store may have changed it. Settles
   * when it is in effect. Never rejects.
   */
  load(): Promise<void> {
    this.#loading = this.#loading.then(() => this.#load())
    return this.#loading
  }

  /** Calls in progress fail. */
  async stop(): Promise<void> {
    this.#isStopped = true
    // Not awaited: a local server may not answer.
    void this.#detection.stop()
    void this.#retry.stop()
    await this.#provider?.close()
  }

  /** A change is in effect when it is answered. */
  readonly #change: Io<Uint8Array> = async (command, { commit }) => {
    const answer = await commit(command)
    if (answer?.code === null) await this.load()
    return answer ?? refusal('deadline')
  }

  async #load(): Promise<void> {
    if (this.#isStopped) return
    this.#isUnread = false
    try {
      const { settings } = await askFor<{ readonly settings?: ProviderSettings & { readonly id: string } }>(
        this.dispatcher,
        activeEmbeddingConfig,
        {},
      )
      await this.#use(settings ?? this.config.embedding ?? this.#found)
    } catch (error) {
      log.error("embeddings: the default configuration can't be read", { reason: error })
      // Damage or a lost key is permanent, so reading is not retried. Embedding with a provider that was not
      // chosen would be worse than no embedding.
      if (error instanceof Refused && isFault(error.code)) await this.#use(undefined)
      else {
        this.#isUnread = true
        this.#retry.wake(EMBEDDING_RELOAD_MS)
      }
    }
  }

  async #use(settings: ProviderSettings | undefined): Promise<void> {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return
    const next = settings === undefined ? undefined : await this.#make(settings)
    if (this.#isStopped) {
      await next?.close()
      return
    }
    const before = this.#provider
    this.#settings = settings
    this.#provider = next
    this.telemetry.set('embedding_provider_configured', this.#provider === undefined ? 0 : 1)
    this.telemetry.set('embedding_circuit_open', 0)
    if (this.#provider !== undefined) {
      const { name, model, dimensions } = this.#provider
      log.info(`embeddings: ${name} ${model}, ${dimensions} dimensions${this.#originOf(settings)}`)
    }
    for (const listener of this.#listeners) listener()
    void before?.close()
  }

  #originOf(settings: ProviderSettings | undefined): string {
    const isFound = this.config.embedding === null && !(settings !== undefined && 'id' in settings)
    return isFound ? `, found on this machine; SVC_EMBEDDING_AUTODETECT=0 leaves it alone` : ''
  }

  async #make(settings: ProviderSettings): Promise<EmbeddingProvider | undefined> {
    if (isKeyMissing(settings)) {
      log.error(`embeddings: the default configuration has no API key, which ${settings.provider} needs; nothing is embedded`)
      return undefined
    }
    const { isRemote, makeProvider } = await loadProviders()
    try {
      if (!isRemote(settings)) return new (await loadLocal()).LocalProvider(settings)
      return makeProvider(settings, { outbound: await this.#guarded(), observer: this.#observer() })
    } catch (error) {
      log.error('embeddings: nothing is embedded', { reason: error })
      return undefined
    }
  }

  async #guarded(): Promise<Outbound> {
    const { embeddingPolicy } = await loadProviders()
    this.#outbound ??= new Outbound(embeddingPolicy(policyOf(this.config), this.config.embeddingApiUrl))
    return this.#outbound
  }

  /**
   * The observer of one provider. Late events of the previous provider must not count for the current one.
   */
  #observer(): EmbeddingObserver {
    const isCurrent = (): boolean => this.#observed === observer
    const observer: EmbeddingObserver = {
      onRequest: (outcome, ms) => {
        this.telemetry.add('embedding_requests', 1)
        if (outcome === 'failed') this.telemetry.add('embedding_requests_failed', 1)
        if (outcome === 'refused') this.telemetry.add('embedding_requests_refused', 1)
        this.telemetry.observeEmbedding(ms / 1000)
      },
      onBreaker: (state) => {
        if (isCurrent()) this.telemetry.set('embedding_circuit_open', state === 'closed' ? 0 : 1)
      },
    }
    this.#observed = observer
    return observer
  }
}
