/**
 * The certificate, key and client CAs in force, for every surface. The files are read again when they change
 * and on SIGHUP. Files that do not fit together change nothing but the log, so every connection is accepted
 * with a pair that was checked. Decision: docs/decisions/operation/tls.md. Front-end thread.
 */
import { isDeepStrictEqual } from 'node:util'
import { Chore, type ChoreTools } from '../../chore.js'
import type { TlsOptionValues } from '../../config/options/tls_options.js'
import type { Service } from '../../services.js'
import { log } from '../../telemetry/log.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { FileWatch } from './file_watch.js'
import { MemoryFiles } from './memory_files.js'
import { readTlsTexts, type TlsTexts } from './tls_texts.js'

/** Signatures of the files are compared this often, for file systems that report no changes. */
const TLS_WATCH_MS = 10_000
/**
 * Time between a reported change and the reading of the files. Tools write the certificate and the key one
 * after the other; within this time both are there.
 */
const TLS_SETTLE_MS = 300

const KEPT = 'TLS: the certificate stays as it is'

type TakeFiles = (files: TlsFiles) => void

export class Credentials {
  readonly #options: TlsOptionValues
  readonly #takers: TakeFiles[] = []
  #texts: TlsTexts
  #copies = new MemoryFiles()
  /** Threads may still read them. */
  #former = new MemoryFiles()
  #files: TlsFiles

  /** @throws Error with a one-line message if the files are not usable */
  constructor(options: TlsOptionValues) {
    this.#options = options
    this.#texts = readTlsTexts(options)
    this.#files = copied(this.#texts, this.#copies)
    if (this.#texts.validTo.getTime() < Date.now()) log.warn('TLS: the certificate has expired', this.#described())
  }

  get files(): TlsFiles {
    return this.#files
  }

  /** Clients without a certificate of a client CA are refused. */
  get requiresClients(): boolean {
    return this.#options.tlsClientCa !== '' && this.#options.tlsClientAuth === 'require'
  }

  /** @param take is called with each new pair, on this thread; connections that are open keep theirs */
  onRenewed(take: TakeFiles): void {
    this.#takers.push(take)
  }

  /** Follows the files and SIGHUP until it is stopped. */
  watch(tools: ChoreTools): Service {
    const { tlsCert, tlsKey, tlsClientCa } = this.#options
    const files = new FileWatch([tlsCert, tlsKey, tlsClientCa], () => chore.wake(TLS_SETTLE_MS))
    let isAsked = false
    const chore = new Chore(tools, {
      name: 'tls-files',
      failure: 'TLS: the certificate files are not watched',
      retry: { firstMs: TLS_WATCH_MS, longestMs: TLS_WATCH_MS },
      round: () => {
        const hasChanged = files.haveChanged()
        if (hasChanged || isAsked) this.#renew()
        isAsked = false
        return TLS_WATCH_MS
      },
    })
    const onSignal = (): void => {
      isAsked = true
      chore.wake()
    }
    return {
      name: 'certificate files',
      start: () => {
        process.on('SIGHUP', onSignal)
        // The first round sees what has changed since the process began.
        chore.start()
      },
      stop: async () => {
        process.off('SIGHUP', onSignal)
        files.close()
        await chore.stop()
      },
    }
  }

  #renew(): void {
    let texts: TlsTexts
    try {
      texts = readTlsTexts(this.#options)
    } catch (error) {
      log.error(KEPT, { reason: (error as Error).message })
      return
    }
    if (isDeepStrictEqual(texts, this.#texts)) return
    const copies = new MemoryFiles()
    this.#files = copied(texts, copies)
    this.#texts = texts
    this.#former.close()
    this.#former = this.#copies
    this.#copies = copies
    for (const take of this.#takers) take(this.#files)
    log.info('TLS: new certificate', this.#described())
  }

  #described(): { readonly path: string; readonly expires: string } {
    return { path: this.#options.tlsCert, expires: this.#texts.validTo.toISOString() }
  }
}

function copied({ cert, key, clientCa }: TlsTexts, copies: MemoryFiles): TlsFiles {
  return { cert: copies.add(cert), key: copies.add(key), clientCa: clientCa === null ? null : copies.add(clientCa) }
}
