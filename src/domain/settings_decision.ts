/**
 * `decide` for settings of collections: runs on the write lane, inside the write transaction. A change
 * becomes entries and an answer, or is rejected before anything is written.
 */
import { randomBytes } from 'node:crypto'
import { badRequest, serviceError } from '../errors.js'
import { STOP_WORDS_MAX } from '../limits/documents.js'
import { SPELL_DICTIONARY_WORDS_MAX } from '../limits/search.js'
import { lowerCase } from '../operations/row/lower_case.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Collection } from '../store/collections/collection_row.js'
import { KEY_BYTES } from '../store/sealing/cipher.js'
import type { SettingKind } from '../store/settings.js'
import { SERVER_SETTINGS } from '../store/settings.js'
import { requirePlainName } from './documents/identity.js'
import { type CollectionConfig, mergeConfig, SERVER_ADMIN_FIELDS } from './settings/collection_config.js'
import { configOf, spellWordsOf } from './settings/collection_settings.js'
import type { CurationDraft, CurationRule } from './settings/curation.js'
import { decideEmbedding, type EmbeddingChange, isEmbeddingChange, type SettingWrite } from './settings/embedding_configs.js'
import type { SettingsChange, SettingsCommand } from './settings/settings_commands.js'
import { configBefore, locationChange, newLocation } from './settings/storage.js'
import type { Step } from './step.js'
import { requireSealedStill } from './writes/write_rules.js'

/**
 * Terms of one collection that have synonyms. General thesauri have about as many headwords. A lane analyses
 * them in 30 ms after a change.
 */
const SYNONYM_TERMS_MAX = 10_000
/** Rules of one collection. Each query is compared with all of them, 1 000 x 0.1 us. */
const CURATION_RULES_MAX = 1000

interface SettingsDecision {
  readonly steps: readonly Step[]
  /** Undefined: an answer without a body. */
  readonly answer: unknown
  /** Default: 200. */
  readonly status?: number
}

/** The target of a change: the name as requested, and the collection if it already exists. */
interface Target {
  readonly transaction: WriteTransaction
  readonly name: string
  readonly known: Collection | undefined
}

export function decideSettings(transaction: WriteTransaction, { collection, sealedIn, change }: SettingsCommand): SettingsDecision {
  if (collection !== null) requireSealedStill(transaction.view, collection, sealedIn)
  const known = collection === null ? undefined : transaction.view.collection(collection)
  const target: Target = { transaction, name: collection ?? '', known }
  if (known === undefined && collection !== null) requirePlainName('collection', collection)
  if (isEmbeddingChange(change)) return changeEmbedding(transaction, change)
  switch (change.kind) {
    case 'configure': {
      const stored = known === undefined ? undefined : configBefore(transaction.view, known.id, change.change)
      const config = mergeConfig(stored ?? {}, change.change)
      const isChanged = newLocation(stored, change.change) !== undefined
      const location = locationChange(transaction.view, known?.id, config, isChanged)
      const located = locatedFirst(transaction, location, put(target, 'config', '', config))
      const steps = sealedFirst(target, config.encrypted === true, located)
      return { steps, answer: { status: 'ok', collection } }
    }
    case 'unconfigure':
      if (!change.byServerAdmin) requireNoServerAdminField(known === undefined ? undefined : configOf(transaction.view, known.id))
      return { steps: sealedFirst(target, false, remove(target, 'config', '')), answer: { status: 'deleted', collection } }
    case 'synonyms':
      return decideSynonyms(target, change.term, change.synonyms)
    case 'addStopWords':
    case 'deleteStopWords':
      return decideStopWords(target, change.kind === 'addStopWords', change.words, change.refused)
    case 'spellWords':
      return decideSpellWords(target, change)
    case 'schema':
      return decideSchema(target, change.text)
    case 'addRule':
      return addRule(target, change.rule, change.seed)
    case 'replaceRule':
      return replaceRule(transaction, collection, change.id, change.rule)
    case 'deleteRule': {
      const found = findRule(transaction, collection, change.id)
      return {
        steps: [settingStep(transaction, found.collection, 'curation', change.id, null)],
        answer: { status: 'deleted', id: change.id },
      }
    }
  }
}

/** Decided here, because a server administrator may have set one since the request was authorised. */
function requireNoServerAdminField(stored: CollectionConfig | undefined): void {
  if (SERVER_ADMIN_FIELDS.some((field) => stored?.[field] !== undefined)) throw serviceError('adminRequired')
}

function put({ transaction, name, known }: Target, setting: SettingKind, id: string, value: unknown): Step[] {
  const collection = known ?? { id: transaction.nextCollection, name }
  return [settingStep(transaction, collection, setting, id, JSON.stringify(value))]
}

/** No steps if the setting does not exist. */
function remove({ transaction, known }: Target, setting: SettingKind, id: string): Step[] {
  if (known === undefined || transaction.view.setting(known.id, setting, id) === undefined) return []
  return [settingStep(transaction, known, setting, id, null)]
}

function settingStep(transaction: WriteTransaction, collection: Collection, setting: SettingKind, id: string, value: string | null): Step {
  const lsn = transaction.nextLsn
  return {
    entry: { kind: 'setting', lsn, collection: collection.id, docid: 0, collectionName: collection.name, setting, id, value },
    body: undefined,
    indexOp: undefined,
  }
}

/** Settings of the server, one entry each. */
function changeEmbedding(transaction: WriteTransaction, change: EmbeddingChange): SettingsDecision {
  const { writes, status, answer } = decideEmbedding(transaction.view, change)
  return { steps: serverSteps(transaction, writes), answer, status }
}

/** @param before number of entries that precede them in the decision */
export function serverSteps(transaction: WriteTransaction, writes: readonly SettingWrite[], before = 0): Step[] {
  const server = { id: SERVER_SETTINGS, name: '' }
  return writes.map(({ setting, id, value }, at) => {
    const step = settingStep(transaction, server, setting, id, value === null ? null : JSON.stringify(value))
    return { ...step, entry: { ...step.entry, lsn: step.entry.lsn + BigInt(before + at) } }
  })
}

/**
 * A location in an object store that is not yet known, or is named with another secret, is written before the
 * configuration that names it.
 */
function locatedFirst(transaction: WriteTransaction, change: ReturnType<typeof locationChange>, steps: Step[]): Step[] {
  if (change === undefined) return steps
  const server = { id: SERVER_SETTINGS, name: '' }
  return [settingStep(transaction, server, 'location', change.id, JSON.stringify(change.location)), ...steps.map(behind)]
}

/** Uses the next LSN, because another entry precedes it. */
function behind(step: Step): Step {
  return { ...step, entry: { ...step.entry, lsn: step.entry.lsn + 1n } }
}

/**
 * A change of whether the collection is sealed precedes the other entries, so that the new configuration is
 * itself stored sealed or unsealed as it specifies.
 */
function sealedFirst({ transaction, name, known }: Target, isSealed: boolean, steps: Step[]): Step[] {
  const isSealedNow = known !== undefined && transaction.isSealed(known.id)
  if (isSealed === isSealedNow) return steps
  if (isSealed && !transaction.canSeal) throw badRequest('invalid encrypted: SVC_ENCRYPTION_KEY is not set')
  const collection = known ?? { id: transaction.nextCollection, name }
  const lsn = transaction.nextLsn
  const sealing: Step = {
    entry: {
      kind: 'sealing',
      lsn,
      collection: collection.id,
      docid: 0,
      collectionName: collection.name,
      isSealed,
      salt: randomBytes(KEY_BYTES),
    },
    body: undefined,
    indexOp: undefined,
  }
  return [sealing, ...steps.map(behind)]
}

function decideSynonyms(target: Target, term: string, synonyms: readonly string[] | null): SettingsDecision {
  if (synonyms === null) return { steps: remove(target, 'synonyms', term), answer: { status: 'deleted' } }
  const { transaction, known } = target
  const isNew = known === undefined || transaction.view.setting(known.id, 'synonyms', term) === undefined
  if (isNew && known !== undefined && transaction.view.countSettings(known.id, 'synonyms') >= SYNONYM_TERMS_MAX)
    throw badRequest(`too many synonyms: at most ${SYNONYM_TERMS_MAX} terms in a collection`)
  return { steps: put(target, 'synonyms', term, synonyms), answer: { status: 'ok' } }
}

function decideStopWords(target: Target, isAdding: boolean, words: readonly string[], refused: readonly string[]): SettingsDecision {
  const { transaction, known } = target
  const stored = (known === undefined ? undefined : transaction.view.setting(known.id, 'stopwords')) as readonly string[] | undefined
  const all = new Set(stored)
  const before = all.size
  for (const word of words) {
    if (isAdding) all.add(word)
    else all.delete(word)
  }
  if (isAdding && all.size > STOP_WORDS_MAX) throw badRequest(`too many stop words: at most ${STOP_WORDS_MAX} in a collection`)
  const changed = Math.abs(all.size - before)
  const answer = {
    ...(isAdding ? { status: 'ok', added: changed } : { status: 'deleted', deleted: changed }),
    ...(refused.length === 0 ? {} : { errors: refused }),
  }
  if (changed === 0) return { steps: [], answer }
  return { steps: all.size === 0 ? remove(target, 'stopwords', '') : put(target, 'stopwords', '', [...all].sort()), answer }
}

function decideSpellWords(
  target: Target,
  { language, words, frequency }: Extract<SettingsChange, { kind: 'spellWords' }>,
): SettingsDecision {
  const { transaction, known } = target
  const stored = new Map(known === undefined ? [] : spellWordsOf(transaction.view, known.id, language))
  const before = stored.size
  for (const word of words) {
    if (frequency === null) stored.delete(word)
    else stored.set(word, frequency)
  }
  if (stored.size > SPELL_DICTIONARY_WORDS_MAX && frequency !== null)
    throw badRequest(`too many words: at most ${SPELL_DICTIONARY_WORDS_MAX} in a dictionary`)
  const answer = frequency === null ? { removed: before - stored.size } : { added: stored.size - before }
  if (frequency === null && stored.size === before) return { steps: [], answer }
  const sorted = [...stored].sort(([one], [other]) => (one < other ? -1 : 1))
  return { steps: sorted.length === 0 ? remove(target, 'dictionary', language) : put(target, 'dictionary', language, sorted), answer }
}

function decideSchema(target: Target, text: string | null): SettingsDecision {
  return {
    steps: text === null ? remove(target, 'schema', '') : put(target, 'schema', '', text),
    answer: { status: text === null ? 'deleted' : 'ok', collection: target.name },
  }
}

/** The last eight digits of a rule's id name its collection, so that a rule can be found by its id alone. */
function ruleId(seed: string, collection: number): string {
  return `cur_${seed}${collection.toString(16).padStart(8, '0')}`
}

export function collectionOfRule(id: string): number | undefined {
  const digits = /^cur_[0-9a-f]{24}([0-9a-f]{8})$/.exec(id)?.[1]
  return digits === undefined ? undefined : parseInt(digits, 16)
}

function addRule(target: Target, draft: CurationDraft, seed: string): SettingsDecision {
  const { transaction, name, known } = target
  if (known !== undefined && transaction.view.countSettings(known.id, 'curation') >= CURATION_RULES_MAX)
    throw badRequest(`too many curation rules: at most ${CURATION_RULES_MAX} in a collection`)
  const id = ruleId(seed, known?.id ?? transaction.nextCollection)
  const { now } = transaction.view
  const rule: CurationRule = { id, collection: known?.name ?? name, ...draft, createdAt: now, updatedAt: now }
  return { steps: put(target, 'curation', id, rule), answer: rule }
}

function replaceRule(transaction: WriteTransaction, named: string | null, id: string, draft: CurationDraft): SettingsDecision {
  const { collection, rule: old } = findRule(transaction, named, id)
  const rule: CurationRule = { id, collection: collection.name, ...draft, createdAt: old.createdAt, updatedAt: transaction.view.now }
  return { steps: [settingStep(transaction, collection, 'curation', id, JSON.stringify(rule))], answer: rule }
}

/**
 * @throws ServiceError 404; 400 if the request names another collection than the rule's, because a rule
 * cannot change its collection
 */
function findRule(transaction: WriteTransaction, named: string | null, id: string): { collection: Collection; rule: CurationRule } {
  const { view } = transaction
  const number = collectionOfRule(id)
  const rule = number === undefined ? undefined : (view.setting(number, 'curation', id) as CurationRule | undefined)
  const collection = rule === undefined ? undefined : view.collection(rule.collection)
  // The rules of a deleted collection are removed with its rows.
  if (rule === undefined || collection === undefined || collection.id !== number) throw serviceError('notFound')
  if (named !== null && lowerCase(named) !== lowerCase(collection.name))
    throw badRequest(`invalid collection: the rule belongs to ${collection.name}`)
  return { collection, rule }
}
