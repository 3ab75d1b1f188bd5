/**
 * Pages of the web that clients import: fetched through the guarded client, converted to Markdown where they
 * are HTML, then stored by a lane. Bounded in number, size and time. Front-end thread only.
 */
import { rm } from 'node:fs/promises'
import { SYSTEM } from '../access/principal.js'
import { keyOfFile, writeWholeSealed } from '../base/sealed_files.js'
import { newSpoolName, spoolPath } from '../base/spool_files.js'
import type { Config } from '../config/config.js'
import { ConversionRefused } from '../conversion/conversion_refused.js'
import { type PageKind, pageKind } from '../conversion/page_kind.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { ask } from '../dispatch/inner_request.js'
import type { Io } from '../dispatch/io.js'
import { badRequest, serviceError } from '../errors.js'
import { MIB } from '../limits/units.js'
import { importUrl, storePage } from '../operations/documents/import_url.js'
import { BodyTooLarge } from '../outbound/received_body.js'
import type { Outbound, OutboundAnswer } from '../outbound/safe_fetch.js'
import type { PageImport } from '../wire/messages/page_messages.js'
import type { Converters } from './converters.js'

/** From the name look-up to the last byte, redirects included. Fixed by the contract. */
const PAGE_MS_MAX = 10_000
/** After decompression. Fixed by the contract. */
const PAGE_BYTES_MAX = 10 * MIB
/** Imports under way: 160 MB of pages at most. */
const PAGE_IMPORTS_MAX = 16
/** What a server may send: text is preferred to HTML, which has to be converted. */
const ACCEPT = 'text/markdown, text/plain;q=0.9, text/html;q=0.8, text/*;q=0.7, application/xhtml+xml;q=0.7, */*;q=0.1'

/** The data directory, and with what files in it are sealed. */
type PageConfig = Pick<Config, 'path' | 'encryption'>

export function servePageImports(dispatcher: Dispatcher, outbound: Outbound, converters: Converters, config: PageConfig): void {
  const imports = new PageImports(dispatcher, outbound, converters, config)
  dispatcher.onIo(importUrl, imports.run)
}

class PageImports {
  #underWay = 0

  constructor(
    readonly dispatcher: Dispatcher,
    readonly outbound: Outbound,
    readonly converters: Converters,
    readonly config: PageConfig,
  ) {}

  readonly run: Io<PageImport> = async (page, { principal: { name }, clientAddress }) => {
    if (this.#underWay >= PAGE_IMPORTS_MAX) throw serviceError('overloaded')
    this.#underWay += 1
    try {
      const { url, mainContent, ...named } = page
      const fetched = await this.#page(url)
      const stored = await this.#stored(fetched, mainContent)
      // Nobody waits any more: like every write, it is not made then.
      if (clientAddress() === null) throw serviceError('deadline')
      // As the server itself, on behalf of whoever asked: the rights were checked before the fetch.
      return await ask(this.dispatcher, storePage, { ...named, ...stored }, { ...SYSTEM, name })
    } finally {
      this.#underWay -= 1
    }
  }

  /** @throws ServiceError 400 for every page that can't be had */
  async #page(url: string): Promise<OutboundAnswer> {
    let answer: OutboundAnswer
    try {
      answer = await this.outbound.safeFetch({ url, headers: { accept: ACCEPT }, msMax: PAGE_MS_MAX, bytesMax: PAGE_BYTES_MAX })
    } catch (error) {
      throw badRequest(`fetch failed: ${reasonOf(error)}`)
    }
    if (answer.status !== 200) throw badRequest(`fetch failed: ${answer.status}`)
    return answer
  }

  async #stored(
    { headers, body }: OutboundAnswer,
    mainContent: boolean,
  ): Promise<{ page: Uint8Array; charset: string; hasFrontmatter: boolean }> {
    const kind = pageKind(headers['content-type'] ?? '', body)
    if (kind.form === 'binary') throw badRequest(`fetch failed: ${kind.type} is not text`)
    if (kind.form === 'text') return { page: body, charset: kind.charset, hasFrontmatter: true }
    return { page: Buffer.from(await this.#converted(kind, body, mainContent)), charset: 'utf-8', hasFrontmatter: false }
  }

  async #converted({ charset }: PageKind, body: Buffer, mainContent: boolean): Promise<string> {
    const { path: directory, encryption } = this.config
    const path = spoolPath(directory, newSpoolName())
    try {
      // A declaration in front of the page is the first that the converter finds.
      const declared = charset === '' || isMarked(body) ? '' : `<meta charset="${charset}">\n`
      await writeWholeSealed(path, declared === '' ? body : Buffer.concat([Buffer.from(declared), body]), encryption)
      const pool = await this.converters.pool()
      const key = await keyOfFile(path, encryption)
      return (await pool.convert({ path, key, format: 'html', textOnly: false, mainContent })).markdown
    } catch (error) {
      if (!(error instanceof ConversionRefused)) throw error
      throw error.reason === 'busy' ? serviceError('overloaded') : badRequest(`conversion failed: ${error.message}`)
    } finally {
      await rm(path, { force: true })
    }
  }
}

/** A byte order mark says more than any declaration. */
function isMarked([first, second, third]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (first === 0xef && second === 0xbb && third === 0xbf)
}

/** Says nothing about addresses that the client may not see: these texts name rules, codes and times. */
function reasonOf(error: unknown): string {
  if (error instanceof BodyTooLarge) return `more than ${PAGE_BYTES_MAX} bytes`
  if (!(error instanceof Error)) return 'no connection'
  const { code } = error as NodeJS.ErrnoException
  return code ?? error.message
}
