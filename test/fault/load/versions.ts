/**
 * The documents of the write load: markdown with a unique word in each version, so that a search shows
 * whether exactly that version is indexed. Kept by digest, so that a document found after a restart can be
 * distinguished from all its other versions. Grows with the writes of a run: some 2 KB each.
 */
import type { Random } from '../../harness/random.js'
import { digestOf } from './ledger.js'

export interface Version {
  readonly contentMd: string
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly term: string
  readonly digest: string
}

const WORDS = 'harbour lantern orchard granite velvet meadow thunder copper willow saddle marble canyon ribbon falcon timber'.split(' ')
const STATUSES = ['draft', 'review', 'final']
/**
 * 8 to 600 words: bodies from 100 bytes to 5 KB, so that all three ways of storing a body (plain, snappy,
 * shared page) occur; some lines repeat and compress.
 */
const WORDS_MIN = 8
const WORDS_MAX = 600

export class Versions {
  readonly #byDigest = new Map<string, Version>()
  readonly #random: Random
  readonly #prefix: string
  #terms = 0

  /** @param prefix letters only; words of different prefixes differ */
  constructor(random: Random, prefix: string) {
    this.#random = random
    this.#prefix = prefix
  }

  fresh(): Version {
    const term = this.#nextTerm()
    const words = Array.from({ length: WORDS_MIN + this.#random.below(WORDS_MAX - WORDS_MIN) }, () => this.#random.pick(WORDS))
    const contentMd = `# ${words.slice(0, 3).join(' ')}\n\nThe word is ${term}.\n\n${words.join(' ')}\n\n\`\`\`\nplain "quoted" \\ text ${term.length}\n\`\`\`\n`
    return this.#keep(contentMd, term, this.#meta())
  }

  withOtherMeta(version: Version): Version {
    return this.#keep(version.contentMd, version.term, this.#meta())
  }

  withOtherContent(version: Version): Version {
    const fresh = this.fresh()
    return this.#keep(fresh.contentMd, fresh.term, version.meta)
  }

  find(digest: string): Version | undefined {
    return this.#byDigest.get(digest)
  }

  #keep(contentMd: string, term: string, meta: Version['meta']): Version {
    const version: Version = { contentMd, meta, term, digest: digestOf(contentMd, meta) }
    this.#byDigest.set(version.digest, version)
    return version
  }

  #meta(): Version['meta'] {
    return { status: [this.#random.pick(STATUSES)], tags: [this.#random.pick(WORDS), `n${this.#random.below(1000)}`] }
  }

  /** Letters only, with an ending that no stemmer removes. */
  #nextTerm(): string {
    let number = this.#terms++
    let letters = ''
    do {
      letters = String.fromCharCode(97 + (number % 26)) + letters
      number = Math.floor(number / 26)
    } while (number > 0)
    return `zq${this.#prefix}v${letters}x`
  }
}
