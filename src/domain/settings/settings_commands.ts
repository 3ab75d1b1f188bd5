/**
 * Changes of a collection's settings as they cross to the write lane. Pure types.
 */
import type { ConfigChange } from './collection_config.js'
import type { CurationDraft } from './curation.js'
import type { EmbeddingChange } from './embedding_configs.js'

export type SettingsChange =
  | { readonly kind: 'configure'; readonly change: ConfigChange }
  | { readonly kind: 'unconfigure' }
  /** `synonyms` null: the term has none any more. */
  | { readonly kind: 'synonyms'; readonly term: string; readonly synonyms: readonly string[] | null }
  | { readonly kind: 'addStopWords' | 'deleteStopWords'; readonly words: readonly string[]; readonly refused: readonly string[] }
  /** `language`: base code; `frequency` null: they are taken out. */
  | { readonly kind: 'spellWords'; readonly language: string; readonly words: readonly string[]; readonly frequency: number | null }
  /** `text`: JSON; null: the collection has none any more. */
  | { readonly kind: 'schema'; readonly text: string | null }
  /** `seed`: 24 random hexadecimal digits for the rule's id. */
  | { readonly kind: 'addRule'; readonly rule: CurationDraft; readonly seed: string }
  | { readonly kind: 'replaceRule'; readonly id: string; readonly rule: CurationDraft }
  | { readonly kind: 'deleteRule'; readonly id: string }
  | EmbeddingChange

export interface SettingsCommand {
  readonly kind: 'settings'
  /** Null where a rule is named by its id alone, and for settings of the server. */
  readonly collection: string | null
  readonly change: SettingsChange
}
