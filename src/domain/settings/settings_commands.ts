/** Changes to a collection's settings as they are passed to the write lane. Pure types. */
import type { ConfigChange } from './collection_config.js'
import type { CurationDraft } from './curation.js'
import type { EmbeddingChange } from './embedding_configs.js'

export type SettingsChange =
  | { readonly kind: 'configure'; readonly change: ConfigChange }
  | { readonly kind: 'unconfigure'; readonly byServerAdmin: boolean }
  /** `synonyms` null: the term no longer has any. */
  | { readonly kind: 'synonyms'; readonly term: string; readonly synonyms: readonly string[] | null }
  | { readonly kind: 'addStopWords' | 'deleteStopWords'; readonly words: readonly string[]; readonly refused: readonly string[] }
  /** `language`: base code; `frequency` null: the words are removed. */
  | { readonly kind: 'spellWords'; readonly language: string; readonly words: readonly string[]; readonly frequency: number | null }
  /** `text`: JSON; null: the collection no longer has a schema. */
  | { readonly kind: 'schema'; readonly text: string | null }
  /** `seed`: 24 random hexadecimal digits for the rule's id. */
  | { readonly kind: 'addRule'; readonly rule: CurationDraft; readonly seed: string }
  | { readonly kind: 'replaceRule'; readonly id: string; readonly rule: CurationDraft }
  | { readonly kind: 'deleteRule'; readonly id: string }
  | EmbeddingChange

export interface SettingsCommand {
  readonly kind: 'settings'
  /** Null if a rule is identified by its id alone, and for settings of the server. */
  readonly collection: string | null
  /** Id of the sealed collection that it was prepared for. 0 or absent: the collection was not sealed. */
  readonly sealedIn?: number
  readonly change: SettingsChange
}
