/**
 * Puts pages together from the elements of a dump, which are known by their place: `page/revision/id` is not
 * `page/id`. Elements elsewhere are passed over. Of the revisions of a page the latest one is kept. Pure.
 */
import { MIB } from '../../limits/units.js'
import { DumpError } from './dump_error.js'
import { COMMON_DROPPED, droppedNames } from './namespaces.js'

/** Characters of the text of a page: as a document may have bytes. Wikis permit 2 MiB. */
const TEXT_CHARS_MAX = 16 * MIB
/** Characters of any other element that is read. A title has 255 bytes at most. */
const FIELD_CHARS_MAX = 4096
/** Elements within each other. A dump has 5. */
const DEPTH_MAX = 32
/** Namespaces of a wiki: large ones have 50. */
const NAMESPACES_MAX = 1000

export interface WikiPage {
  readonly title: string
  readonly namespace: number
  readonly id: string
  /** The title of the page to which this one leads. */
  readonly redirect: string | undefined
  readonly revisionId: string
  readonly timestamp: string
  /** A user's name or an IP address; empty where it was removed. */
  readonly contributor: string
  /** Wikitext. Undefined if it is longer than a document may be. */
  readonly text: string | undefined
  /** Lower-case prefixes of links to files and categories in this wiki. */
  readonly dropped: ReadonlySet<string>
}

interface Revision {
  id: string
  timestamp: string
  contributor: string
  text: string | undefined
}

interface Page {
  title: string
  namespace: string
  id: string
  redirect: string | undefined
  revision: Revision | undefined
}

type Step = (builder: Fields, value: string) => void

/** What is under way. */
interface Fields {
  page: Page
  revision: Revision
}

/** Elements whose text is read: path below the root -> where it goes. */
const STEPS: ReadonlyMap<string, Step> = new Map<string, Step>([
  ['page/title', ({ page }, value) => (page.title = value.trim())],
  ['page/ns', ({ page }, value) => (page.namespace = value.trim())],
  ['page/id', ({ page }, value) => (page.id = value.trim())],
  ['page/revision/id', ({ revision }, value) => (revision.id = value.trim())],
  ['page/revision/timestamp', ({ revision }, value) => (revision.timestamp = value.trim())],
  ['page/revision/contributor/username', ({ revision }, value) => (revision.contributor = value.trim())],
  ['page/revision/contributor/ip', ({ revision }, value) => (revision.contributor = value.trim())],
])
const TEXT = 'page/revision/text'
const NAMESPACE = 'siteinfo/namespaces/namespace'

const newPage = (): Page => ({ title: '', namespace: '', id: '', redirect: undefined, revision: undefined })
const newRevision = (): Revision => ({ id: '', timestamp: '', contributor: '', text: '' })

export class PageBuilder {
  readonly #give: (page: WikiPage) => void
  /** Path below the root of each element that is open; the root's is empty. */
  readonly #paths: string[] = []
  readonly #namespaces = new Map<string, number>()
  #dropped: ReadonlySet<string> = COMMON_DROPPED
  readonly #fields: Fields = { page: newPage(), revision: newRevision() }
  #namespace = 0
  /** The text of the element under way, if it is one that is read; undefined where it is too long. */
  #value: string | undefined = ''

  constructor(give: (page: WikiPage) => void) {
    this.#give = give
  }

  /** Whether the root was that of a dump. */
  isDump = false

  get isInText(): boolean {
    return this.#paths.at(-1) === TEXT
  }

  /** @throws DumpError */
  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const parent = this.#paths.at(-1)
    if (parent === undefined) {
      if (name !== 'mediawiki') throw new DumpError('not-a-dump', `the root is <${name.slice(0, 40)}>, not <mediawiki>`)
      this.isDump = true
      this.#paths.push('')
      return
    }
    if (this.#paths.length === DEPTH_MAX) throw new DumpError('malformed', `elements nested deeper than ${DEPTH_MAX}`)
    const path = parent === '' ? name : `${parent}/${name}`
    this.#paths.push(path.length > FIELD_CHARS_MAX ? '?' : path)
    this.#value = ''
    if (path === 'page') this.#fields.page = newPage()
    else if (path === 'page/revision') this.#fields.revision = newRevision()
    else if (path === 'page/redirect') this.#fields.page.redirect = attributes['title']?.slice(0, FIELD_CHARS_MAX) ?? ''
    else if (path === NAMESPACE) this.#namespace = Number(attributes['key'])
  }

  /** @throws DumpError */
  text(text: string): void {
    const path = this.#paths.at(-1) ?? ''
    if (path === TEXT) {
      const value = this.#value
      if (value !== undefined) this.#value = value.length + text.length > TEXT_CHARS_MAX ? undefined : value + text
    } else if (STEPS.has(path) || path === NAMESPACE) {
      this.#value = `${this.#value ?? ''}${text}`
      if (this.#value.length > FIELD_CHARS_MAX) throw new DumpError('too-large', `<${path}> has over ${FIELD_CHARS_MAX} characters`)
    }
  }

  close(_name: string): void {
    const path = this.#paths.pop() ?? ''
    const { page, revision } = this.#fields
    if (path === TEXT) revision.text = this.#value
    else if (path === 'page/revision') this.#keepLatest(page, revision)
    else if (path === 'page') this.#give(this.#pageOf(page))
    else if (path === NAMESPACE) this.#addNamespace(this.#value ?? '')
    else STEPS.get(path)?.(this.#fields, this.#value ?? '')
    this.#value = ''
  }

  /** Times are ISO 8601 in UTC, so they compare as texts. Of two at one time the later one in the file. */
  #keepLatest(page: Page, revision: Revision): void {
    if (page.revision === undefined || revision.timestamp >= page.revision.timestamp) page.revision = revision
  }

  #addNamespace(name: string): void {
    if (name === '' || !Number.isInteger(this.#namespace) || this.#namespaces.size >= NAMESPACES_MAX) return
    this.#namespaces.set(name.trim().toLowerCase(), this.#namespace)
    this.#dropped = droppedNames(this.#namespaces)
  }

  #pageOf({ title, namespace, id, redirect, revision = newRevision() }: Page): WikiPage {
    const { text } = revision
    return {
      title,
      namespace: namespace === '' ? this.#namespaceOf(title) : Number(namespace),
      id,
      redirect: redirectOf(redirect, text ?? ''),
      revisionId: revision.id,
      timestamp: revision.timestamp,
      contributor: revision.contributor,
      text,
      dropped: this.#dropped,
    }
  }

  /** Dumps before version 0.6 have no `ns`. */
  #namespaceOf(title: string): number {
    const colon = title.indexOf(':')
    return colon < 0 ? 0 : (this.#namespaces.get(title.slice(0, colon).toLowerCase()) ?? 0)
  }
}

/** The word is English or in the language of the wiki. */
const ANY_REDIRECT = /^\s*#[^\s[:]+\s*:?\s*\[\[([^\]|\n]{1,300})/
const ENGLISH_REDIRECT = /^\s*#redirect\s*:?\s*\[\[([^\]|\n]{1,300})/i

/** Dumps before version 0.4 have no `redirect`, those before 0.6 one without a title: empty here. */
function redirectOf(title: string | undefined, text: string): string | undefined {
  if (title !== undefined && title !== '') return title
  const match = (title === undefined ? ENGLISH_REDIRECT : ANY_REDIRECT).exec(text)
  return match?.[1]?.trim() ?? title
}
