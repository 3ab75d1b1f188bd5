/**
 * Schemas compared with an independently structured model, one predicate per rule. Random schemas and
 * metadata must be judged equally, error by error. The refusal of a schema does not depend on the order of
 * its keys. A write prepared under an older schema is judged by the present one when it is executed.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decideDrop } from '../../../src/domain/decision.js'
import { parseMetadata } from '../../../src/domain/documents/metadata.js'
import { readSchema } from '../../../src/domain/schemas/collection_schema.js'
import { schemaErrors } from '../../../src/domain/schemas/metadata_check.js'
import { SettingsCache } from '../../../src/domain/settings/collection_settings.js'
import type { SettingsChange } from '../../../src/domain/settings/settings_commands.js'
import { decideSettings } from '../../../src/domain/settings_decision.js'
import { NO_RULES, requireSchema, requireSchemaStill, writeRulesOfCollection } from '../../../src/domain/writes/write_rules.js'
import { ServiceError } from '../../../src/errors.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { holds } from '../../harness/property.js'

interface Rules {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean'
  readonly enum?: readonly (string | number | boolean)[]
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
}
interface Schema {
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Rules>>
}

const key = fc.constantFrom('a', 'b', 'toString', 'ä')
const value = fc.constantFrom('', '1', '-2', '1.5', 'true', 'false', 'x', 'xx', '1e3', ' 1')
/** Patterns with the same meaning in JavaScript. */
const pattern = fc.constantFrom('x', '^x+$', '\\d', '^$', '(1|true)')
const rules: fc.Arbitrary<Rules> = fc
  .record(
    {
      type: fc.constantFrom('string' as const, 'number' as const, 'integer' as const, 'boolean' as const),
      enum: fc.uniqueArray(fc.constantFrom('x', '', 1, true, 'false'), { minLength: 1, maxLength: 3 }),
      pattern,
      minItems: fc.nat(3),
      maxItems: fc.nat(3),
    },
    { requiredKeys: [] },
  )
  .filter(({ minItems = 0, maxItems = 0 }) => maxItems === 0 || minItems <= maxItems)
const schema: fc.Arbitrary<Schema> = fc.record(
  { required: fc.uniqueArray(key, { maxLength: 3 }), properties: fc.dictionary(key, rules, { maxKeys: 3 }) },
  { requiredKeys: [] },
)
const meta = fc.dictionary(key, fc.array(value, { maxLength: 4 }), { maxKeys: 4 })

/** The (key, rule) pairs of all violations, once for each value. */
function modelErrors({ required = [], properties = {} }: Schema, of: Readonly<Record<string, readonly string[]>>): string[] {
  const texts = (name: string): readonly string[] | undefined => (Object.hasOwn(of, name) ? of[name] : undefined)
  const missing = required.filter((name) => (texts(name)?.length ?? 0) < 1).map((name) => `${name} required`)
  const wrong = Object.entries(properties).flatMap(([name, rule]) => {
    const given = texts(name)
    if (given === undefined) return []
    const count = [
      ...(given.length < (rule.minItems ?? 0) ? ['minItems'] : []),
      ...(rule.maxItems && given.length > rule.maxItems ? ['maxItems'] : []),
    ]
    const each = given.flatMap((text) => [
      ...(rule.type === undefined || readsAs(rule.type, text) ? [] : ['type']),
      ...(rule.enum === undefined || rule.enum.some((allowed) => `${allowed}` === text) ? [] : ['enum']),
      ...(rule.pattern === undefined || new RegExp(rule.pattern, 'u').test(text) ? [] : ['pattern']),
    ])
    return [...count, ...each].map((kind) => `${name} ${kind}`)
  })
  return [...missing, ...wrong].sort()
}

function readsAs(type: string, text: string): boolean {
  if (type === 'boolean') return ['true', 'false'].includes(text)
  if (type === 'string') return true
  const isNumber = text.trim() === text && text !== '' && Number.isFinite(Number(text))
  return isNumber && (type === 'number' || !/[.e]/.test(text))
}

function kindsOf(errors: readonly string[]): string[] {
  return errors
    .map((text) => {
      const [, name] = /field "([^"]*)"/.exec(text) ?? []
      return `${name} ${['required', 'minItems', 'maxItems', '(type)', '(enum)', 'pattern'].find((rule) => text.includes(rule))?.replace(/\W/g, '')}`
    })
    .sort()
}

test('a schema judges metadata as its rules say, one by one', () => {
  holds(
    fc.property(schema, meta, (given, of) => {
      const judged = schemaErrors(readSchema(JSON.stringify(given)), parseMetadata(of).values)
      assert.deepEqual(kindsOf(judged), modelErrors(given, of))
    }),
    { numRuns: 2000 },
  )
})

const folder = mkdtempSync(join(tmpdir(), 'mds-schema-model-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type Op =
  | { readonly kind: 'set'; readonly schema: Schema }
  | { readonly kind: 'unset' | 'drop' | 'other' }
  /** Prepared now, executed after the given number of further steps. */
  | { readonly kind: 'write'; readonly meta: Readonly<Record<string, readonly string[]>>; readonly after: number }

const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('set' as const), schema }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('unset' as const, 'drop' as const, 'other' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), meta, after: fc.nat(3) }) },
)

test('a write is checked against the schema at its commit, however old the schema of its preparation is', async () => {
  let runs = 0
  await holds(
    fc.asyncProperty(fc.array(op, { minLength: 2, maxLength: 12 }), async (ops) => {
      const store = new TruthStore(openDataDirectory(join(folder, String(runs++))).generationPath, 1000)
      const writer = store.openWriter({ durability: 'async', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
      // The caches of a read lane and of the write lane.
      const [reading, writing] = [new SettingsCache(), new SettingsCache()]
      let present: Schema = {}
      const change = (asked: SettingsChange): Promise<void> =>
        writer.group(
          () => 1000,
          (transaction) => {
            const { steps } = decideSettings(transaction, { kind: 'settings', collection: 'c', change: asked })
            for (const { entry } of steps) transaction.apply(entry, undefined)
          },
        )
      const waiting: { at: number; meta: Readonly<Record<string, readonly string[]>>; settingsLsn: bigint }[] = []
      for (const [at, step] of [...ops, ...Array.from({ length: 4 }, () => undefined)].entries()) {
        if (step?.kind === 'set') {
          await change({ kind: 'schema', text: JSON.stringify(step.schema) })
          present = step.schema
        } else if (step?.kind === 'unset') {
          await change({ kind: 'schema', text: null })
          present = {}
        } else if (step?.kind === 'other') await change({ kind: 'synonyms', term: `t${at}`, synonyms: ['s'] })
        else if (step?.kind === 'drop') {
          await writer.group(
            () => 1000,
            (transaction) => {
              const known = transaction.view.collection('c')
              if (known !== undefined) transaction.apply(decideDrop(transaction, known.id, known.name).entry, undefined)
            },
          )
          present = {}
        } else if (step?.kind === 'write') {
          const rules = store.read((view) => {
            const collection = view.collection('c')
            return collection === undefined ? NO_RULES : writeRulesOfCollection(reading, view, collection.id)
          })
          const expected = modelErrors(present, step.meta).length === 0
          assert.equal(passes(() => requireSchema(rules, parseMetadata(step.meta).values)), expected) // prettier-ignore
          if (expected) waiting.push({ at: at + step.after, meta: step.meta, settingsLsn: rules.settingsLsn })
        }
        for (const due of waiting.filter((write) => write.at === at)) {
          const document = { meta: JSON.stringify(due.meta), settingsLsn: due.settingsLsn }
          const passed = await writer.group(
            () => 1000,
            (transaction) => passes(() => requireSchemaStill(writing, transaction.view, 'c', document)),
          )
          assert.equal(passed, modelErrors(present, due.meta).length === 0)
        }
      }
      await writer.flushed()
      await store.close()
    }),
    { numRuns: 60 },
  )
})

function passes(run: () => void): boolean {
  try {
    run()
    return true
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    return false
  }
}
