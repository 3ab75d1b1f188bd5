/**
 * Reads the pages of a dump of a wiki (MediaWiki's XML export) from its bytes, one after another, in constant
 * memory: of a page only its present revision is kept, of a text at most TEXT_CHARS_MAX characters. Entities
 * of a DTD are not expanded. The parser is loaded on first use. Any thread or process.
 */
import { createRequire } from 'node:module'
import type { SaxesParser } from 'saxes'
import { MIB } from '../../limits/units.js'
import { DumpError } from './dump_error.js'
import { decodeDump } from './dump_text.js'
import { PageBuilder, type WikiPage } from './page_builder.js'

const require = createRequire(import.meta.url)

/** Characters that the parser is given at once: what it has read beyond a bound is no more than this. */
const WRITE_CHARS = 64 * 1024
/**
 * Characters without an element's begin or end where a text is: the parser keeps them. Four times the
 * longest text that is given, which is 128 MB of memory at worst; a longer one ends the import.
 */
const TEXT_RUN_CHARS_MAX = 64 * MIB
/** The same elsewhere: a tag, a comment, a declaration. Real ones have under 1 KB. */
const MARKUP_RUN_CHARS_MAX = MIB

/**
 * @param chunks of the dump, decompressed
 * @throws DumpError after all pages before the fault, and what `chunks` throws
 */
export async function* readDump(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WikiPage> {
  const { SaxesParser: Parser } = require('saxes') as typeof import('saxes')
  const reader = new DumpReader(new Parser())
  for await (const text of decodeDump(chunks)) {
    for (let from = 0; from < text.length; from += WRITE_CHARS) {
      reader.write(text.slice(from, from + WRITE_CHARS))
      yield* reader.take()
      if (reader.fault !== undefined) throw reader.fault
    }
  }
  reader.close()
  yield* reader.take()
  if (reader.fault !== undefined) throw reader.fault
}

class DumpReader {
  readonly #parser: SaxesParser
  readonly #builder: PageBuilder
  #pages: WikiPage[] = []
  /** Position of the parser at the last begin or end of an element or of a text. */
  #lastEvent = 0
  #lastPage = 0
  fault: DumpError | undefined

  constructor(parser: SaxesParser) {
    this.#parser = parser
    this.#builder = new PageBuilder((page) => {
      this.#pages.push(page)
      this.#lastPage = parser.position
    })
    parser.on('error', (error) => this.#fail(error.message.replace(/^\d+:\d+: /, '')))
    parser.on('opentag', ({ name, attributes }) => this.#element(() => this.#builder.open(name, attributes)))
    parser.on('closetag', ({ name }) => this.#element(() => this.#builder.close(name)))
    parser.on('text', (text) => this.#element(() => this.#builder.text(text)))
    parser.on('comment', () => (this.#lastEvent = parser.position))
    parser.on('cdata', (text) => this.#element(() => this.#builder.text(text)))
  }

  /** The parser goes on after an error; the builder does not. */
  #element(step: () => void): void {
    if (this.fault !== undefined) return
    this.#lastEvent = this.#parser.position
    try {
      step()
    } catch (error) {
      if (!(error instanceof DumpError)) throw error
      this.fault = new DumpError(error.fault, `${error.message} (${this.#position()})`)
    }
  }

  /** The parser closes what is open before it says that another tag was expected. */
  #fail(message: string): void {
    if (this.fault === undefined && this.#lastPage === this.#parser.position) this.#pages.pop()
    this.fault ??= new DumpError(this.#builder.isDump ? 'malformed' : 'not-a-dump', `${message} (${this.#position()})`)
  }

  #position(): string {
    return `line ${this.#parser.line}, column ${this.#parser.columnIndex + 1}`
  }

  write(text: string): void {
    this.#parser.write(text)
    const bound = this.#builder.isInText ? TEXT_RUN_CHARS_MAX : MARKUP_RUN_CHARS_MAX
    if (this.fault === undefined && this.#parser.position - this.#lastEvent > bound)
      this.fault = new DumpError('too-large', `over ${bound} characters without an element (${this.#position()})`)
  }

  close(): void {
    if (this.fault === undefined) this.#parser.close()
    if (!this.#builder.isDump) this.#fail('not a dump of a wiki')
  }

  take(): readonly WikiPage[] {
    const pages = this.#pages
    if (pages.length > 0) this.#pages = []
    return pages
  }
}
