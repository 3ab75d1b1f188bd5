/** The fact of a search's answer that says how its collection wants answers to be written. Read lanes. */
import type { CollectionConfig } from '../../domain/settings/collection_config.js'
import type { Answer } from '../../wire/answer.js'

type Facts = NonNullable<Answer['facts']>

const NONE: Facts = []

/** @param config undefined if the collection does not exist */
export function promptFacts(config: CollectionConfig | undefined): Facts {
  const prompt = config?.responsePrompt ?? ''
  return prompt === '' ? NONE : [['responsePrompt', prompt]]
}
