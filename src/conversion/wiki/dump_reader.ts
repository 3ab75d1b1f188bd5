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
import { decodeRun, unfinished } from './text_run.js'

const require = createRequire(import.meta.url)

/** Characters that the parser is given at once: what it has read beyond a bound is no more than this. */
const WRITE_CHARS = 64 * 1024
/**
 * Characters without an element's begin or end where a text is: the parser keeps them. Four times the
 * longest text that is given, which is 128 MB of memory at worst; a longer one ends the import.
 */
const TEXT_RUN_CHARS_MAX = 64 * MIB
/** Characters of a tag that is waited for. A longer one is left to the parser with the text behind it. */
const TAG_CHARS_MAX = 4096
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
  /** Whether what follows is the text of a page, which the parser is not given. */
  #isRun = false
  /** Position of the parser behind the last begin tag. */
  #opened = 0
  /** Characters that the parser was given. Its own position is beyond them once it has read them. */
  #given = 0
  /** The beginning of a tag or of a reference, whose end is in the next text. */
  #rest = ''
  /** Lines that the parser was not given, and characters before its column in its present line. */
  #linesPassed = 0
  #columnsPassed = 0
  #columnsLine = 0
  fault: DumpError | undefined

  constructor(parser: SaxesParser) {
    this.#parser = parser
    this.#builder = new PageBuilder((page) => {
      this.#pages.push(page)
      this.#lastPage = parser.position
    })
    parser.on('error', (error) => this.#fail(error.message.replace(/^\d+:\d+: /, '')))
    parser.on('opentag', ({ name, attributes }) => {
      this.#opened = parser.position
      this.#element(() => this.#builder.open(name, attributes))
    })
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
    const { line } = this.#parser
    const column = this.#column() + 1 + (line === this.#columnsLine ? this.#columnsPassed : 0)
    return `line ${line + this.#linesPassed}, column ${column}`
  }

  #column(): number {
    return this.#parser.columnIndex - Math.max(0, this.#parser.position - this.#given)
  }

  write(added: string): void {
    let text = this.#rest + added
    this.#rest = ''
    while (text !== '' && this.fault === undefined) text = this.#isRun ? this.#writeRun(text) : this.#writeMarkup(text)
  }

  /** Up to the begin tag of a text. A tag of usual length whose end is not there yet waits for it. */
  #writeMarkup(text: string): string {
    const begin = text.indexOf('<text')
    const end = begin < 0 ? -1 : text.indexOf('>', begin)
    if (end >= 0) {
      this.#parse(text.slice(0, end + 1))
      this.#isRun = this.#builder.isInText && this.#opened === this.#given
      return text.slice(end + 1)
    }
    const open = text.lastIndexOf('<')
    const isWhole = open < 0 || text.length - open > TAG_CHARS_MAX || text.includes('>', open)
    this.#parse(isWhole ? text : text.slice(0, open))
    this.#rest = isWhole ? '' : text.slice(open)
    return ''
  }

  #writeRun(text: string): string {
    const end = text.indexOf('<')
    const run = end < 0 ? text.slice(0, text.length - unfinished(text)) : text.slice(0, end)
    const decoded = decodeRun(run)
    this.#pass(typeof decoded === 'string' ? run : run.slice(0, decoded.at))
    if (typeof decoded === 'string') this.#element(() => this.#builder.text(decoded))
    else this.#fail(decoded.message)
    if (end < 0) this.#rest = text.slice(run.length)
    else this.#isRun = false
    return end < 0 ? '' : text.slice(end)
  }

  /** Counts what the parser is not given. */
  #pass(run: string): void {
    const { line } = this.#parser
    if (line !== this.#columnsLine) this.#columnsPassed = 0
    this.#columnsLine = line
    const last = run.lastIndexOf('\n')
    this.#columnsPassed = last < 0 ? this.#columnsPassed + run.length : run.length - last - 1 - this.#column()
    for (let at = run.indexOf('\n'); at >= 0; at = run.indexOf('\n', at + 1)) this.#linesPassed++
  }

  #parse(text: string): void {
    this.#given += text.length
    this.#parser.write(text)
    const bound = this.#builder.isInText ? TEXT_RUN_CHARS_MAX : MARKUP_RUN_CHARS_MAX
    if (this.fault === undefined && this.#given - this.#lastEvent > bound)
      this.fault = new DumpError('too-large', `over ${bound} characters without an element (${this.#position()})`)
  }

  close(): void {
    if (this.fault === undefined) this.#parser.write(this.#isRun ? '' : this.#rest).close()
    if (!this.#builder.isDump) this.#fail('not a dump of a wiki')
  }

  take(): readonly WikiPage[] {
    const pages = this.#pages
    if (pages.length > 0) this.#pages = []
    return pages
  }
}
