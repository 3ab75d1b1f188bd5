/**
 * Settings of collections: configuration, synonyms, stop words, curation rules. Reads answer from the store.
 * Changes are validated here, as far as that is possible without the store, and decided on the write lane.
 */
import { randomBytes } from 'node:crypto'
import { isServerAdmin, requireServerAdmin } from '../../access/authorize.js'
import type { Command } from '../../domain/commands.js'
import {
  type CollectionConfig,
  type ConfigChange,
  readChange,
  SERVER_ADMIN_FIELDS,
  showConfig,
} from '../../domain/settings/collection_config.js'
import { configOf, rulesOf, stopWordsOf, synonymsOf } from '../../domain/settings/collection_settings.js'
import type { CurationRule } from '../../domain/settings/curation.js'
import { readDraft } from '../../domain/settings/curation.js'
import type { SettingsChange } from '../../domain/settings/settings_commands.js'
import { configBefore, newLocation } from '../../domain/settings/storage.js'
import { collectionOfRule } from '../../domain/settings_decision.js'
import { defaultStopWords, readStopWords, readSynonyms, readTerm } from '../../domain/words/vocabulary.js'
import { badRequest, serviceError } from '../../errors.js'
import { STOP_WORDS_MAX } from '../../limits/documents.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  deleteCollectionConfig as deleteConfigRow,
  getCollectionConfig as getConfigRow,
  listCollectionConfigs as listCollectionConfigsRow,
  setCollectionConfig as setConfigRow,
} from '../../operations/settings/collection_config.js'
import {
  addCuration as addCurationRow,
  deleteCuration as deleteCurationRow,
  listCuration as listCurationRow,
  replaceCuration as replaceCurationRow,
} from '../../operations/settings/curation.js'
import {
  addStopWords as addStopWordsRow,
  deleteStopWords as deleteStopWordsRow,
  deleteSynonyms as deleteSynonymsRow,
  listStopWords as listStopWordsRow,
  listSynonyms as listSynonymsRow,
  setSynonyms as setSynonymsRow,
} from '../../operations/settings/vocabulary.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'
import { NULLS } from '../request/input.js'
import { settingsCommand } from '../request/settings_command.js'
import { probedFirst } from '../request/storage.js'

/** Words in one request that adds or deletes stop words. */
const STOP_WORDS_REQUESTED_MAX = STOP_WORDS_MAX

interface Named {
  readonly collection: string
}

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

function command(lane: LaneContext, collection: string | undefined, change: SettingsChange): Command {
  return collection === undefined || collection === ''
    ? { kind: 'settings', collection: null, change }
    : settingsCommand(lane, collection, change)
}

/** Runs `read` on a collection. Returns undefined if there is no such collection. */
function inCollection<T>(lane: LaneContext, name: string, read: (view: View, collection: number) => T): T | undefined {
  return lane.store.read((view) => {
    const collection = view.collection(name)
    return collection === undefined ? undefined : read(view, collection.id)
  })
}

function getConfig(lane: LaneContext, { collection }: InputOf<typeof getConfigRow>): Answer {
  const config = inCollection(lane, collection, configOf)
  return json({ collection, config: showConfig(config ?? {}), configured: config !== undefined })
}

function setConfig(
  lane: LaneContext,
  input: InputOf<typeof setConfigRow> & { readonly [NULLS]?: readonly string[] },
  { access }: RequestContext,
): Command | StoreFirst {
  const nulls = input[NULLS] ?? []
  if (SERVER_ADMIN_FIELDS.some((field) => input[field] !== undefined || nulls.includes(field))) requireServerAdmin(access)
  const change = readChange(input, nulls)
  const location = lane.store.read((view) => newLocation(configIn(view, input.collection, change), change))
  const configure = command(lane, input.collection, { kind: 'configure', change })
  return location === undefined ? configure : probedFirst(lane, location, configure)
}

function configIn(view: View, name: string, change: ConfigChange): CollectionConfig | undefined {
  const collection = view.collection(name)
  return collection === undefined ? undefined : configBefore(view, collection.id, change)
}

function deleteConfig(lane: LaneContext, { collection }: InputOf<typeof deleteConfigRow>, { access }: RequestContext): Command {
  return command(lane, collection, { kind: 'unconfigure', byServerAdmin: isServerAdmin(access) })
}

function listConfigs(lane: LaneContext, _input: unknown, { access }: RequestContext): Answer {
  const configs = lane.store.read((view) =>
    view.collections().flatMap(({ id, name }) => {
      const config = configOf(view, id)
      return config === undefined || !access.mayRead(name) ? [] : [{ collection: name, config: showConfig(config) }]
    }),
  )
  return json({ configs, total: configs.length })
}

function listSynonyms(lane: LaneContext, { collection }: Named): Answer {
  const entries = inCollection(lane, collection, synonymsOf) ?? []
  return json({
    collection,
    synonyms: Object.fromEntries(entries),
    entries: entries.map(([term, of]) => ({ term, synonyms: of })),
    total: entries.length,
  })
}

function setSynonyms(lane: LaneContext, input: InputOf<typeof setSynonymsRow>): Command {
  return command(lane, input.collection, { kind: 'synonyms', term: readTerm(input.term), synonyms: readSynonyms(input.synonyms) })
}

function deleteSynonyms(lane: LaneContext, { collection, term }: InputOf<typeof deleteSynonymsRow>): Command {
  return command(lane, collection, { kind: 'synonyms', term: readTerm(term), synonyms: null })
}

function listStopWords(lane: LaneContext, { collection }: Named): Answer {
  const defaults = defaultStopWords(lane.config.ftsDefaultLang)
  const custom = (inCollection(lane, collection, stopWordsOf) ?? []).filter((word) => !defaults.has(word))
  const entries = [...defaults]
    .map((word) => ({ word, isDefault: true }))
    .concat(custom.map((word) => ({ word, isDefault: false })))
    .sort((one, other) => (one.word < other.word ? -1 : 1))
  return json({ collection, entries, total: entries.length, defaults: defaults.size, custom: custom.length })
}

function changeStopWords(kind: 'addStopWords' | 'deleteStopWords') {
  return (lane: LaneContext, { collection, words }: InputOf<typeof addStopWordsRow>): Command => {
    if (words.length > STOP_WORDS_REQUESTED_MAX)
      throw badRequest(`invalid words: ${words.length}, at most ${STOP_WORDS_REQUESTED_MAX} are allowed`)
    const defaults = defaultStopWords(lane.config.ftsDefaultLang)
    const asked = readStopWords(words)
    const fixed = asked.filter((word) => defaults.has(word))
    const refused = kind === 'addStopWords' ? [] : fixed.map((word) => `${word}: default stop words cannot be deleted`)
    return command(lane, collection, { kind, words: asked.filter((word) => !defaults.has(word)), refused })
  }
}

function listCuration(lane: LaneContext, { collection, id }: InputOf<typeof listCurationRow>): Answer {
  return lane.store.read((view) => {
    if (id !== undefined && id !== '') return json(findRule(view, collection, id))
    const collections = collection === undefined || collection === '' ? view.collections() : [view.collection(collection)]
    const rules = collections.flatMap((each) => (each === undefined ? [] : rulesOf(view, each.id)))
    return json({ rules, total: rules.length, collection: collection ?? '' })
  })
}

/** @throws ServiceError 404 */
function findRule(view: View, named: string | undefined, id: string): CurationRule {
  const number = collectionOfRule(id)
  const rule = number === undefined ? undefined : (view.setting(number, 'curation', id) as CurationRule | undefined)
  const location = rule === undefined ? undefined : view.collection(named === undefined || named === '' ? rule.collection : named)
  if (rule === undefined || location?.id !== number) throw serviceError('notFound')
  return rule
}

function addCuration(lane: LaneContext, input: InputOf<typeof addCurationRow>): Command {
  return command(lane, input.collection, { kind: 'addRule', rule: readDraft(input), seed: randomBytes(12).toString('hex') })
}

function replaceCuration(lane: LaneContext, input: InputOf<typeof replaceCurationRow>): Command {
  return command(lane, input.collection, { kind: 'replaceRule', id: input.id, rule: readDraft(input) })
}

function deleteCuration(lane: LaneContext, { collection, id }: InputOf<typeof deleteCurationRow>): Command {
  return command(lane, collection, { kind: 'deleteRule', id })
}

export const settingsHandlers: readonly BoundHandler[] = [
  read(getConfigRow, getConfig),
  prepare(setConfigRow, setConfig),
  prepare(deleteConfigRow, deleteConfig),
  read(listCollectionConfigsRow, listConfigs),
  read(listSynonymsRow, listSynonyms),
  prepare(setSynonymsRow, setSynonyms),
  prepare(deleteSynonymsRow, deleteSynonyms),
  read(listStopWordsRow, listStopWords),
  prepare(addStopWordsRow, changeStopWords('addStopWords')),
  prepare(deleteStopWordsRow, changeStopWords('deleteStopWords')),
  read(listCurationRow, listCuration),
  prepare(addCurationRow, addCuration),
  prepare(replaceCurationRow, replaceCuration),
  prepare(deleteCurationRow, deleteCuration),
]
