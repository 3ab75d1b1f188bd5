/**
 * Settings of collections compared with plain maps. Random changes through decide and apply, with drops,
 * purges and restarts, must leave the model's state, read from the store and through a lane's cache. Also the
 * laws of merging a configuration.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decodeCommand, encodeCommand } from '../../../src/domain/commands.js'
import { decideDrop } from '../../../src/domain/decision.js'
import {
  type CollectionConfig,
  mergeConfig,
  readChange,
  SERVER_ADMIN_FIELDS,
  showConfig,
} from '../../../src/domain/settings/collection_config.js'
import { SettingsCache } from '../../../src/domain/settings/collection_settings.js'
import type { CurationRule } from '../../../src/domain/settings/curation.js'
import type { SettingsChange, SettingsCommand } from '../../../src/domain/settings/settings_commands.js'
import { decideSettings } from '../../../src/domain/settings_decision.js'
import { ServiceError } from '../../../src/errors.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { holds } from '../../harness/property.js'
import { keyringWith, resealAll } from '../../harness/store/sealing.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-settings-model-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface ModelSettings {
  config: CollectionConfig | undefined
  synonyms: Map<string, readonly string[]>
  stopWords: Set<string>
  /** Dictionaries by language. */
  dictionaries: Map<string, Map<string, number>>
  rules: Map<string, CurationRule>
}

type Step =
  | { readonly kind: 'change'; readonly collection: string; readonly change: SettingsChange }
  | { readonly kind: 'replaceRule' | 'deleteRule'; readonly collection: string; readonly which: number }
  | { readonly kind: 'drop'; readonly collection: string }
  | { readonly kind: 'restart' | 'purge' | 'reseal' }

const text = fc.constantFrom('', 'a', 'ä', 'x|y', '__proto__')
const config: fc.Arbitrary<CollectionConfig> = fc.record(
  {
    type: fc.constantFrom('website', 'scraping'),
    description: text,
    trackHot: fc.boolean(),
    encrypted: fc.boolean(),
    maxRevisions: fc.nat(5),
    cms: fc.record({ url: text, apiKey: text }, { requiredKeys: [] }),
    storageConfig: fc.record({ endpoint: text, secretKey: text, useTLS: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const nulls = fc.subarray(['description', 'cms', 'storageConfig', 'unheardOf'])
const words = fc.uniqueArray(fc.constantFrom('foo', 'bar', 'baz', 'ü'), { maxLength: 3 })
const draft = fc.record({
  query: fc.constantFrom('q', 'Q r'),
  matchMode: fc.constantFrom('exact' as const, 'contains' as const),
  enabled: fc.boolean(),
  pins: fc.constantFrom([], [{ key: 'k', position: 1 }]),
  hides: fc.constantFrom([], ['h']),
})
const change: fc.Arbitrary<SettingsChange> = fc.oneof(
  fc.record({
    kind: fc.constant('configure' as const),
    change: fc.tuple(config, nulls).map(([values, cleared]) => readChange(values, cleared)),
  }),
  fc.record({ kind: fc.constant('unconfigure' as const), byServerAdmin: fc.boolean() }),
  fc.record({ kind: fc.constant('synonyms' as const), term: fc.constantFrom('car', 'new york', 'ä'), synonyms: fc.option(words.filter((list) => list.length > 0)) }), // prettier-ignore
  fc.record({ kind: fc.constantFrom('addStopWords' as const, 'deleteStopWords' as const), words, refused: fc.constant([]) }),
  fc.record({ kind: fc.constant('spellWords' as const), language: fc.constantFrom('en', 'de'), words, frequency: fc.option(fc.nat(9)) }),
  fc.record({
    kind: fc.constant('addRule' as const),
    rule: draft,
    seed: fc.array(fc.nat(15), { minLength: 24, maxLength: 24 }).map((digits) => digits.map((digit) => digit.toString(16)).join('')),
  }),
)
const ADMIN_REQUIRED = { message: 'admin access required' }
const collection = fc.constantFrom('blog', 'Blog', 'wiki')
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('change' as const), collection, change }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('replaceRule' as const, 'deleteRule' as const), collection, which: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), collection }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'purge' as const, 'reseal' as const) }) },
)

class Run {
  /** The primary master key; it changes with each restart. */
  #primary: 1 | 2 = 1
  readonly model = new Map<string, ModelSettings>()
  store: TruthStore
  /** One cache for the whole run, as in a lane: restarts of the store must not make it stale either. */
  readonly cache = new SettingsCache()

  constructor(readonly path: string) {
    this.store = this.open()
  }

  open(): TruthStore {
    const store = new TruthStore(openDataDirectory(this.path).generationPath, 1000, keyringWith(this.#primary))
    store.beginSealing()
    return store
  }

  async write<T>(run: (transaction: WriteTransaction) => T): Promise<T> {
    const writer = this.store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    return writer.group(() => 1000, run)
  }

  settings(name: string): ModelSettings {
    const found = this.model.get(name.toLowerCase()) ?? {
      config: undefined,
      synonyms: new Map(),
      stopWords: new Set(),
      dictionaries: new Map(),
      rules: new Map(),
    }
    this.model.set(name.toLowerCase(), found)
    return found
  }

  /** The change crosses the thread boundary like that of a request. */
  async carryOut(collection: string | null, change: SettingsChange): Promise<unknown> {
    const command = decodeCommand(encodeCommand({ kind: 'settings', collection, change })) as SettingsCommand
    return this.write((transaction) => {
      const { steps, answer } = decideSettings(transaction, command)
      for (const { entry, body } of steps) transaction.apply(entry, body)
      return answer
    })
  }

  async step(op: Step): Promise<void> {
    switch (op.kind) {
      case 'restart':
        await this.store.close()
        this.#primary = this.#primary === 1 ? 2 : 1
        this.store = this.open()
        return
      case 'purge':
        await this.write((transaction) => transaction.purgeRetired(3))
        return
      case 'reseal':
        for (const { id } of this.store.read((view) => view.collections())) {
          const errors = await this.write((transaction) => resealAll(transaction, id))
          assert.deepEqual(errors, [])
        }
        return
      case 'drop':
        await this.write((transaction) => {
          const found = transaction.view.collection(op.collection)
          if (found !== undefined) transaction.apply(decideDrop(transaction, found.id, found.name).entry, undefined)
        })
        this.model.delete(op.collection.toLowerCase())
        return
      case 'change':
        return this.change(op.collection, op.change)
      default:
        return this.changeRule(op.kind, op.collection, op.which)
    }
  }

  async change(name: string, change: SettingsChange): Promise<void> {
    const settings = this.settings(name)
    const held = SERVER_ADMIN_FIELDS.filter((field) => settings.config?.[field] !== undefined)
    if (change.kind === 'unconfigure' && !change.byServerAdmin && held.length > 0) {
      const command: SettingsCommand = { kind: 'settings', collection: name, change }
      this.store.read((view) => assert.throws(() => decideSettings({ view } as WriteTransaction, command), ADMIN_REQUIRED))
      return
    }
    const answer = await this.carryOut(name, change)
    switch (change.kind) {
      case 'configure':
        settings.config = mergeConfig(settings.config ?? {}, change.change)
        break
      case 'unconfigure':
        settings.config = undefined
        break
      case 'synonyms':
        if (change.synonyms === null) settings.synonyms.delete(change.term)
        else settings.synonyms.set(change.term, change.synonyms)
        break
      case 'addStopWords':
        for (const word of change.words) settings.stopWords.add(word)
        break
      case 'deleteStopWords':
        for (const word of change.words) settings.stopWords.delete(word)
        break
      case 'spellWords': {
        const dictionary = new Map(settings.dictionaries.get(change.language))
        for (const word of change.words) {
          if (change.frequency === null) dictionary.delete(word)
          else dictionary.set(word, change.frequency)
        }
        if (dictionary.size === 0) settings.dictionaries.delete(change.language)
        else settings.dictionaries.set(change.language, dictionary)
        break
      }
      default:
        settings.rules.set((answer as CurationRule).id, answer as CurationRule)
    }
  }

  async changeRule(kind: 'replaceRule' | 'deleteRule', name: string, which: number): Promise<void> {
    const { rules } = this.settings(name)
    const id = [...rules.keys()][which]
    const rule = { query: 'new', matchMode: 'exact' as const, enabled: true, pins: [], hides: [] }
    const asked: SettingsChange = kind === 'replaceRule' ? { kind, id: id ?? 'cur_none', rule } : { kind, id: id ?? 'cur_none' }
    if (id === undefined) {
      // A refusal inside the transaction would end the process, so the decision is checked first.
      await this.write((transaction) =>
        assert.throws(() => decideSettings(transaction, { kind: 'settings', collection: null, change: asked }), ServiceError),
      )
      return
    }
    await this.carryOut(null, asked)
    if (kind === 'deleteRule') rules.delete(id)
    else rules.set(id, { ...(rules.get(id) as CurationRule), ...rule })
  }

  compare(): void {
    this.store.read((view) => {
      for (const [name, expected] of this.model) {
        const found = view.collection(name)
        const { config, synonyms, stopWords, rules, dictionaries } = this.cache.of(view, found?.id ?? 0)
        assert.deepEqual(config, expected.config ?? {})
        assert.deepEqual(new Map(synonyms), expected.synonyms)
        assert.deepEqual(stopWords, [...expected.stopWords].sort())
        assert.deepEqual(new Map([...dictionaries].map(([language, list]) => [language, new Map(list)])), expected.dictionaries)
        assert.deepEqual(
          rules,
          [...expected.rules.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
        )
      }
    })
  }
}

test('settings of collections equal plain maps after any sequence of changes, with drops, purges and restarts', async () => {
  let run = 0
  await holds(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const subject = new Run(join(folder, String(run++)))
      for (const op of steps) {
        await subject.step(op)
        subject.compare()
      }
      await subject.store.close()
    }),
    { numRuns: 60 },
  )
})

test('a change of a configuration sets the named fields, clears null ones, leaves the rest, and no answer contains a credential', () => {
  holds(
    fc.property(config, config, nulls, (first, second, cleared) => {
      const stored = mergeConfig({}, readChange(first, []))
      const merged = mergeConfig(stored, readChange(second, cleared))
      for (const field of ['type', 'description', 'trackHot', 'maxRevisions'] as const) {
        const expected = second[field] ?? (cleared.includes(field) ? undefined : stored[field])
        assert.equal(merged[field], expected, field)
      }
      const secret = second.storageConfig === undefined ? undefined : second.storageConfig.secretKey || stored.storageConfig?.secretKey
      if (second.storageConfig !== undefined) assert.equal(merged.storageConfig?.secretKey, secret || undefined)
      else if (cleared.includes('storageConfig')) assert.equal(merged.storageConfig, undefined)
      else assert.deepEqual(merged.storageConfig, stored.storageConfig)
      const shown = showConfig(merged) as { readonly storageConfig?: object; readonly cms?: object }
      if (merged.storageConfig !== undefined)
        assert.deepEqual(shown.storageConfig, { ...merged.storageConfig, secretKey: '', secretKeySet: merged.storageConfig.secretKey !== undefined }) // prettier-ignore
      if (merged.cms !== undefined) assert.deepEqual(shown.cms, { ...merged.cms, apiKey: '', apiKeySet: merged.cms.apiKey !== undefined })
      // A configuration may be written back as it was read.
      assert.deepEqual(mergeConfig(merged, readChange(showConfig(merged), [])), { type: 'default', ...merged })
    }),
    { numRuns: 500 },
  )
})
