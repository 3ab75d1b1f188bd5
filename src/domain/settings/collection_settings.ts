/**
 * A lane's cache of collection settings. An entry is valid while the collection's stamp, the LSN of the last
 * change, is unchanged; checking it costs one look-up. Entries are never stale, because the stamp is read in
 * the view that the search uses. One per lane.
 */
import { SETTINGS_CACHED_COLLECTIONS_MAX } from '../../limits/documents.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import { type CollectionSchema, readSchema } from '../schemas/collection_schema.js'
import type { CollectionConfig } from './collection_config.js'
import type { CurationRule } from './curation.js'
import { type Locations, readLocations } from './locations.js'

export type Synonyms = readonly (readonly [term: string, synonyms: readonly string[]])[]

/** Lower-case words, sorted. */
export type SpellWords = readonly (readonly [word: string, frequency: number])[]

export interface CollectionSettings {
  readonly lsn: bigint
  readonly config: CollectionConfig
  readonly synonyms: Synonyms
  /** Lower case. */
  readonly stopWords: readonly string[]
  /** In the order in which they were created. */
  readonly rules: readonly CurationRule[]
  /** Words that count as correct, with the number of documents that each counts for, by language. */
  readonly dictionaries: ReadonlyMap<string, SpellWords>
  readonly schema: CollectionSchema | undefined
}

export const NO_SETTINGS: CollectionSettings = {
  lsn: 0n,
  config: {},
  synonyms: [],
  stopWords: [],
  rules: [],
  dictionaries: new Map(),
  schema: undefined,
}

export class SettingsCache {
  readonly #known = new Map<number, CollectionSettings>()
  #locations: { readonly lsn: bigint; readonly locations: Locations } = { lsn: 0n, locations: new Map() }

  /** Clears the cache after a transaction was rolled back, because its stamps will be reused. */
  forget(): void {
    this.#known.clear()
    this.#locations = { lsn: 0n, locations: new Map() }
  }

  /** The locations in object stores that the server knows. */
  locations(view: View): Locations {
    const lsn = view.settingsLsn(SERVER_SETTINGS)
    if (lsn !== this.#locations.lsn) this.#locations = { lsn, locations: readLocations(view) }
    return this.#locations.locations
  }

  of(view: View, collection: number): CollectionSettings {
    const lsn = view.settingsLsn(collection)
    if (lsn === 0n) return NO_SETTINGS
    const known = this.#known.get(collection)
    if (known?.lsn === lsn) return known
    const settings = readSettings(view, collection, lsn)
    // Evicts the oldest entry. Settings change rarely, and scans over more than 256 collections are rare.
    if (known === undefined && this.#known.size >= SETTINGS_CACHED_COLLECTIONS_MAX) this.#known.delete([...this.#known.keys()][0] as number)
    this.#known.set(collection, settings)
    return settings
  }
}

function readSettings(view: View, collection: number, lsn: bigint): CollectionSettings {
  return {
    lsn,
    config: configOf(view, collection) ?? {},
    synonyms: synonymsOf(view, collection),
    stopWords: stopWordsOf(view, collection),
    rules: rulesOf(view, collection),
    dictionaries: new Map(view.settings(collection, 'dictionary') as [string, SpellWords][]),
    schema: schemaOf(view, collection),
  }
}

function schemaOf(view: View, collection: number): CollectionSchema | undefined {
  const text = schemaTextOf(view, collection)
  return text === undefined ? undefined : readSchema(text)
}

/** The schema as it was given, as JSON text. */
export function schemaTextOf(view: View, collection: number): string | undefined {
  return view.setting(collection, 'schema') as string | undefined
}

/** Undefined if nothing was ever configured. */
export function configOf(view: View, collection: number): CollectionConfig | undefined {
  return view.setting(collection, 'config') as CollectionConfig | undefined
}

export function synonymsOf(view: View, collection: number): Synonyms {
  return view.settings(collection, 'synonyms') as Synonyms
}

export function stopWordsOf(view: View, collection: number): readonly string[] {
  return (view.setting(collection, 'stopwords') ?? []) as readonly string[]
}

export function rulesOf(view: View, collection: number): readonly CurationRule[] {
  const rules = view.settings(collection, 'curation').map(([, rule]) => rule as CurationRule)
  return rules.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
}

/** @param language base code */
export function spellWordsOf(view: View, collection: number, language: string): SpellWords {
  return (view.setting(collection, 'dictionary', language) ?? []) as SpellWords
}
