/**
 * The collections of a lane's requests, found by name: row, settings and rules are resolved once and passed
 * on together. What was found is valid until the next publication: every group of commits is counted in the
 * control block before any of its commands is acknowledged, so a request that starts after a write was
 * acknowledged sees what it changed. One per lane and store. Lane threads only.
 */
import { SETTINGS_CACHED_COLLECTIONS_MAX } from '../../limits/documents.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import type { SearchedCollection } from '../search/context.js'
import type { CollectionSettings, SettingsCache } from '../settings/collection_settings.js'
import { rulesOfSettings, type WriteRules } from '../writes/write_rules.js'

interface KnownCollection extends SearchedCollection {
  /**
   * What a write has to keep to. @throws CorruptRecord if it can't be told whether the collection is sealed
   */
  readonly rules: WriteRules
}

/** The control block, as far as it is needed here. */
interface Publications {
  /** Number of publications so far. */
  readonly published: number
}

export class KnownCollections {
  readonly #store: TruthStore
  readonly #settings: SettingsCache
  readonly #publications: Publications
  /** By name as requested; undefined: there is none. */
  readonly #known = new Map<string, KnownCollection | undefined>()
  #published = -1

  constructor(store: TruthStore, settings: SettingsCache, publications: Publications) {
    this.#store = store
    this.#settings = settings
    this.#publications = publications
  }

  /**
   * @param name in any case
   * @returns undefined: there is no such collection
   * @throws CorruptRecord
   */
  find(name: string): KnownCollection | undefined {
    // Taken before the view, which then shows at least what was published.
    const { published } = this.#publications
    if (published !== this.#published) this.#known.clear()
    this.#published = published
    const known = this.#known.get(name)
    if (known !== undefined || this.#known.has(name)) return known
    const found = this.#store.read((view) => this.#read(view, name))
    // The snapshot of a batch may be older than what was published.
    if (this.#store.isSharing) return found
    if (this.#known.size >= SETTINGS_CACHED_COLLECTIONS_MAX) this.#known.clear()
    this.#known.set(name, found)
    return found
  }

  #read(view: View, name: string): KnownCollection | undefined {
    const found = view.collection(name)
    if (found === undefined) return undefined
    const { id } = found
    const settings = this.#settings.of(view, id)
    const rules = rulesOf(view, id, settings)
    return {
      id,
      settings,
      get rules() {
        if (rules instanceof CorruptRecord) throw rules
        return rules
      },
    }
  }
}

/** A search needs no rules, so what makes them unreadable must not refuse it. */
function rulesOf(view: View, id: number, settings: CollectionSettings): WriteRules | CorruptRecord {
  try {
    return rulesOfSettings(view, id, settings)
  } catch (error) {
    if (error instanceof CorruptRecord) return error
    throw error
  }
}
