/**
 * The documents of an ingest that are one: by keys that differ in case only, or by URLs that give the same
 * key. Each is written, and the last one counts. Pure.
 */
import { lowerCase } from '../../operations/row/lower_case.js'
import type { IngestDraft } from './ingest_item.js'

/** Collisions that an answer names. */
const KEY_COLLISIONS_SHOWN_MAX = 50
/** Spellings, and URLs, that one collision names: a batch may have 10 000 of a kilobyte. */
const SPELLINGS_SHOWN_MAX = 10

export class KeyCollisions {
  readonly #firsts = new Map<string, IngestDraft>()
  /** By identity, in the order of their second documents. */
  readonly #several = new Map<string, { readonly lang: string; readonly spellings: Set<string>; readonly urls: Set<string> }>()

  add(draft: IngestDraft): void {
    const identity = lowerCase(`${draft.lang}|${draft.key}`)
    const first = this.#firsts.get(identity)
    if (first === undefined) {
      this.#firsts.set(identity, draft)
      return
    }
    const seen = this.#several.get(identity) ?? { lang: first.lang, spellings: new Set(), urls: new Set() }
    this.#several.set(identity, seen)
    for (const { key, keyedBy } of [first, draft]) {
      seen.spellings.add(key)
      if (keyedBy !== '') seen.urls.add(keyedBy)
    }
  }

  /** One text each, with all spellings: `"Start", "start" (en)`, and the URLs if these collide. */
  texts(): readonly string[] {
    const colliding = [...this.#several.values()].filter(({ spellings, urls }) => spellings.size > 1 || urls.size > 1)
    return colliding.slice(0, KEY_COLLISIONS_SHOWN_MAX).map(({ lang, spellings, urls }) => {
      const named = `${listOf([...spellings].map((key) => JSON.stringify(key)))} (${lang})`
      return urls.size > 1 ? `${named}: ${listOf([...urls])}` : named
    })
  }
}

function listOf(names: readonly string[]): string {
  const more = names.length - SPELLINGS_SHOWN_MAX
  return `${names.slice(0, SPELLINGS_SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
