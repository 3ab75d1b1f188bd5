/**
 * Handlers of autocomplete and spell correction. The rules are in src/domain/fulltext/autocomplete.ts and
 * src/domain/spell. Reads run on read lanes; dictionaries are changed like settings.
 */
import type { Command } from '../../domain/commands.js'
import { readAutocomplete } from '../../domain/fulltext/autocomplete.js'
import { STANDARD_FIELDS } from '../../domain/fulltext/scoring.js'
import { spellWordsOf } from '../../domain/settings/collection_settings.js'
import type { Misspelling } from '../../domain/spell/corrector.js'
import { checkText, describeCleanup, describeSuggestions, readFrequency, readSpellWords } from '../../domain/spell/spell_requests.js'
import { resolveLanguage } from '../../engine/text/languages.js'
import { serviceError } from '../../errors.js'
import type { InputOf } from '../../operations/row/operation.js'
import { autocomplete as autocompleteRow } from '../../operations/search/autocomplete.js'
import {
  addSpellWords as addWordsRow,
  deleteSpellWords as deleteWordsRow,
  getSpellDictionary as getDictionaryRow,
  spellCleanup as cleanupRow,
  spellSuggest as suggestRow,
} from '../../operations/search/spell.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, prepare, read } from '../request/handler.js'
import { settingsCommand } from '../request/settings_command.js'

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

function autocomplete(lane: LaneContext, input: InputOf<typeof autocompleteRow>): Answer {
  if (input.collection === '') throw serviceError('missingFields')
  const request = readAutocomplete(input.q, input.field, input.topN)
  const body = lane.store.read((view) => lane.completer.complete(lane, view, view.collection(input.collection)?.id, request))
  return { body }
}

function misspellingsOf(lane: LaneContext, { collection: name, text, lang }: InputOf<typeof cleanupRow>): Misspelling[] {
  checkText(text)
  return lane.store.read((view) => {
    const found = name === undefined || name === '' ? undefined : view.collection(name)
    const collection = found === undefined ? undefined : { id: found.id, settings: lane.settings.of(view, found.id) }
    const language = languageOf(lane, lang)
    return lane.corrector.check(lane, view, { collection, language, fields: STANDARD_FIELDS }, text)
  })
}

function languageOf(lane: LaneContext, lang: string): string {
  return resolveLanguage(lang, lane.config.ftsDefaultLang)
}

function suggest(lane: LaneContext, input: InputOf<typeof suggestRow>): Answer {
  return json(describeSuggestions(input.text, misspellingsOf(lane, input), input.maxSuggestions))
}

function cleanup(lane: LaneContext, input: InputOf<typeof cleanupRow>): Answer {
  return json(describeCleanup(input.text, misspellingsOf(lane, input)))
}

function getDictionary(lane: LaneContext, { collection, lang }: InputOf<typeof getDictionaryRow>): Answer {
  const words = lane.store.read((view) => {
    const found = view.collection(collection)
    return found === undefined ? [] : spellWordsOf(view, found.id, languageOf(lane, lang))
  })
  return json({ collection, lang, words: words.map(([word]) => word) })
}

function addWords(lane: LaneContext, { collection, lang, words, frequency }: InputOf<typeof addWordsRow>): Command {
  const change = { words: readSpellWords(words), frequency: readFrequency(frequency), language: languageOf(lane, lang) }
  return settingsCommand(lane, collection, { kind: 'spellWords', ...change })
}

function deleteWords(lane: LaneContext, { collection, lang, words }: InputOf<typeof deleteWordsRow>): Command {
  const change = { words: readSpellWords(words), frequency: null, language: languageOf(lane, lang) }
  return settingsCommand(lane, collection, { kind: 'spellWords', ...change })
}

export const wordHandlers: readonly BoundHandler[] = [
  read(autocompleteRow, autocomplete),
  read(suggestRow, suggest),
  read(cleanupRow, cleanup),
  read(getDictionaryRow, getDictionary),
  prepare(addWordsRow, addWords),
  prepare(deleteWordsRow, deleteWords),
]
