/**
 * Asks the address that the operator has set (`SVC_UPDATE_URL`) whether there is a newer version: at start
 * and once a day. Nothing is asked without that address, and nothing about this server is sent. Front-end
 * thread only. Form of the answer: docs/guides/operations.md.
 */
import { BUILD_VERSION } from '../base/version.js'
import { Chore, type ChoreTools } from '../chore.js'
import type { Config } from '../config/config.js'
import { allowedWith, policyOf } from '../outbound/destination.js'
import { Outbound } from '../outbound/safe_fetch.js'
import type { Service } from '../services.js'
import { log } from '../telemetry/log.js'

/** A release waits a day at most; a server that is asked by thousands is asked once a day by each. */
const UPDATE_CHECK_MS = 86_400_000
/** A failed check is retried after a minute, and every hour at most. */
const UPDATE_RETRY_MS_FIRST = 60_000
const UPDATE_RETRY_MS_MAX = 3_600_000
/** The description of a release by a host of repositories is under 100 KB. */
const UPDATE_ANSWER_BYTES_MAX = 512 * 1024
/** Characters of a version or an address in it. */
const UPDATE_TEXT_CHARS_MAX = 512

/** What /health shows. */
export interface Update {
  readonly current: string
  readonly latest: string
  readonly available: boolean
  /** Where it is described or can be had; absent if the answer names no such address. */
  readonly url?: string
  /** Unix seconds. */
  readonly checkedAt: number
}

export class UpdateCheck implements Service {
  readonly name = 'update-check'
  readonly #config: Config
  readonly #outbound: Outbound
  readonly #chore: Chore
  #update: Update | undefined
  /** The newer version that was logged. */
  #logged = ''

  constructor(config: Config, tools: ChoreTools) {
    this.#config = config
    const policy = policyOf(config)
    this.#outbound = new Outbound(config.updateUrl === '' ? policy : allowedWith(policy, config.updateUrl))
    this.#chore = new Chore(tools, {
      name: this.name,
      failure: 'the newest version is not known',
      retry: { firstMs: UPDATE_RETRY_MS_FIRST, longestMs: UPDATE_RETRY_MS_MAX },
      round: async (signal) => {
        await this.#ask(signal)
        return UPDATE_CHECK_MS
      },
    })
  }

  /** Undefined: not asked, or not answered yet. */
  get update(): Update | undefined {
    return this.#update
  }

  start(): void {
    if (this.#config.updateUrl !== '' && this.#config.updateCheck) this.#chore.start()
  }

  async stop(): Promise<void> {
    await this.#chore.stop()
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { status, body } = await this.#outbound.safeFetch({
      url: this.#config.updateUrl,
      headers: { accept: 'application/json' },
      bytesMax: UPDATE_ANSWER_BYTES_MAX,
      signal,
    })
    if (status !== 200) throw new Error(`SVC_UPDATE_URL answered ${status}`)
    const { latest, url } = readVersion(body.toString('utf8'))
    const available = isNewer(latest, BUILD_VERSION)
    this.#update = {
      ...{ current: BUILD_VERSION, latest, available, checkedAt: Math.floor(Date.now() / 1000) },
      ...(url === undefined ? {} : { url }),
    }
    if (!available || this.#logged === latest) return
    this.#logged = latest
    log.info(`version ${latest} is available; this is ${BUILD_VERSION}${url === undefined ? '' : `: ${url}`}`)
  }
}

/** @throws Error for an answer that names no version */
function readVersion(text: string): { readonly latest: string; readonly url: string | undefined } {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new Error('SVC_UPDATE_URL answered no JSON')
  }
  const fields = (typeof answer === 'object' && answer !== null ? answer : {}) as Readonly<Record<string, unknown>>
  // `tag_name` and `html_url`: what hosts of repositories answer for the latest release.
  const latest = textOf(fields['version']) ?? textOf(fields['tag_name'])
  if (latest === undefined || !VERSION.test(latest)) throw new Error('SVC_UPDATE_URL answered no version')
  const url = textOf(fields['url']) ?? textOf(fields['html_url'])
  return { latest: latest.replace(/^v/i, ''), url: url !== undefined && /^https?:/.test(url) ? url : undefined }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= UPDATE_TEXT_CHARS_MAX ? value : undefined
}

const VERSION = /^v?\d{1,6}(\.\d{1,6}){0,3}([-+][0-9a-z.+-]*)?$/i

/** By numbers. A version before a release (`1.2.0-rc.1`) is not newer than the release. */
export function isNewer(latest: string, current: string): boolean {
  const [one, other] = [partsOf(latest), partsOf(current)]
  for (let i = 0; i < 4; i++) {
    const difference = (one.numbers[i] ?? 0) - (other.numbers[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return other.isPrerelease && !one.isPrerelease
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly isPrerelease: boolean } {
  const [release = '', ...rest] = version.split(/[-+]/)
  return { numbers: release.split('.').map(Number), isPrerelease: rest.length > 0 && version.includes('-') }
}
