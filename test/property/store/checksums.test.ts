/**
 * The checksums of a collection in a real store. The order of the writes does not show; any single change
 * does: two documents exchange a field, one is edited, added, deleted or gets another time.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decideDelete, decideExpiry, decidePut } from '../../../src/domain/decision.js'
import type { Step } from '../../../src/domain/step.js'
import type { WriteTransaction } from '../../../src/store/apply.js'
import { escapeContent } from '../../../src/store/body.js'
import { contentHash } from '../../../src/store/document_hash.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { holds } from '../../harness/property.js'
import { type Checksums, checksumsOf, type HashedDocument, shownChecksums } from '../../harness/store/checksums.js'
import { prepared } from '../../harness/store/store_operations.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-checksums-'))
const store = new TruthStore(openDataDirectory(folder).generationPath)
const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
after(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const NOW = 2_000
type Document = HashedDocument & { readonly expiresAt: number }

// Few values, so that documents often have some of them in common.
const text = fc.oneof(fc.constantFrom('', 'a', 'b', 'ab', 'ä'), fc.string({ maxLength: 20 }))
const document = fc.record({
  key: fc.constantFrom('a', 'b', 'ab', 'abc', 'c', 'ca'),
  lang: fc.constantFrom('en', 'de', 'e', 'n'),
  meta: fc.dictionary(fc.constantFrom('x', 'y'), fc.array(text, { minLength: 1, maxLength: 2 }), { noNullPrototype: true }),
  contentMd: text,
  addedAt: fc.integer({ min: 0, max: 3 }).map((second) => 1_000 + second),
  updatedAt: fc.integer({ min: 0, max: 3 }).map((second) => 1_010 + second),
  expiresAt: fc.constantFrom(0, 0, 5_000, 5_001),
})
const identity = ({ key, lang }: Document): string => `${key}|${lang}`
const collection = fc.uniqueArray(document, { minLength: 2, maxLength: 12, selector: identity })
const at = fc.nat()

const FIELDS = ['meta', 'contentMd', 'addedAt', 'updatedAt', 'expiresAt'] as const
const change = fc.oneof(
  fc.record({ kind: fc.constant('exchange' as const), one: at, two: at, fields: fc.subarray([...FIELDS], { minLength: 1 }) }),
  fc.record({ kind: fc.constant('edit' as const), one: at, by: document, fields: fc.subarray([...FIELDS], { minLength: 1 }) }),
  fc.record({ kind: fc.constant('duplicate' as const), one: at, key: fc.constantFrom('d', 'dd') }),
  fc.record({ kind: fc.constant('delete' as const), one: at }),
)
type Change = typeof change extends fc.Arbitrary<infer Made> ? Made : never

/** @returns undefined if nothing would change */
function changed(documents: readonly Document[], how: Change): Document[] | undefined {
  const result = [...documents]
  const one = how.one % documents.length
  const first = documents[one] as Document
  if (how.kind === 'delete') result.splice(one, 1)
  else if (how.kind === 'duplicate') result.push({ ...first, key: how.key })
  else {
    const two = how.kind === 'exchange' ? how.two % documents.length : one
    const other = how.kind === 'exchange' ? (documents[two] as Document) : how.by
    const part = (of: Document): Partial<Document> => Object.fromEntries(how.fields.map((field) => [field, of[field]]))
    if (JSON.stringify(part(first)) === JSON.stringify(part(other))) return undefined
    if (how.kind === 'exchange') result[two] = { ...other, ...part(first) }
    result[one] = { ...first, ...part(other) }
  }
  return result
}

const carryOut = (transaction: WriteTransaction, steps: readonly Step[]): void => {
  for (const step of steps) transaction.apply(step.entry, step.body)
}

function put(transaction: WriteTransaction, name: string, { key, lang, meta, contentMd, addedAt, updatedAt, expiresAt }: Document): void {
  const text = JSON.stringify(meta)
  const hash = contentHash({ key, lang, meta: text }, escapeContent(contentMd))
  const given = { ...prepared(key, contentMd, false, null), lang, meta: text, contentHash: hash, expiresAt, times: { addedAt, updatedAt } }
  carryOut(transaction, decidePut(transaction, name, given).steps)
}

let collections = 0
async function write(run: (transaction: WriteTransaction, name: string) => void, name = `c${collections++}`): Promise<Checksums> {
  await writer.group(
    () => NOW,
    (transaction) => run(transaction, name),
  )
  return store.read((view) => shownChecksums(view.collectionCounters(view.collection(name)?.id ?? assert.fail(name))))
}

const writing = async (documents: readonly Document[]): Promise<Checksums> =>
  write((transaction, name) => {
    for (const each of documents) put(transaction, name, each)
  })

test('checksums: any single exchange, edit, duplicate, deletion or change of a time shows in checksum64, the order of writes does not', async () => {
  const seen = { exchange: 0, edit: 0, duplicate: 0, delete: 0 }
  await fc.assert(
    fc.asyncProperty(collection, fc.array(fc.nat(), { minLength: 12, maxLength: 12 }), change, async (documents, order, how) => {
      const shown = await writing(documents)
      assert.deepEqual(shown, checksumsOf(documents))
      const shuffled = documents.map((each, index) => [order[index] ?? 0, each] as const).sort(([one], [two]) => one - two)
      assert.deepEqual(await writing(shuffled.map(([, each]) => each)), shown)
      const others = changed(documents, how)
      if (others === undefined) return
      seen[how.kind]++
      const other = await writing(others)
      assert.notEqual(other.checksum64, shown.checksum64)
      const isContent = how.kind === 'duplicate' || how.kind === 'delete' || !isSameContent(documents, others)
      assert.equal(other.checksum !== shown.checksum, isContent, 'checksum knows no times')
    }),
    { numRuns: 300 },
  )
  for (const [kind, count] of Object.entries(seen)) assert.ok(count > 10, `${count} of kind ${kind}`)
})

function isSameContent(documents: readonly Document[], others: readonly Document[]): boolean {
  const contents = (of: readonly Document[]): string =>
    JSON.stringify(of.map(({ addedAt: _a, updatedAt: _u, expiresAt: _e, ...content }) => JSON.stringify(content)).sort())
  return contents(documents) === contents(others)
}

test('checksums: writes over writes, deletions and expiries leave those of the documents that are there', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('put' as const), document }),
    fc.record({ kind: fc.constantFrom('delete' as const, 'expiry' as const), document }),
  )
  await holds(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const present = new Map<string, Document>()
      const shown = await write((transaction, name) => {
        put(transaction, name, { key: 'first', lang: 'en', meta: {}, contentMd: '', addedAt: 1, updatedAt: 1, expiresAt: 0 })
        for (const { kind, document: given } of steps) {
          const known = present.get(identity(given))
          if (kind === 'put') {
            // Times of states ascend.
            const updatedAt = Math.max(given.updatedAt, known?.updatedAt ?? 0)
            put(transaction, name, given)
            present.set(identity(given), { ...given, updatedAt })
            continue
          }
          const head = transaction.view.find(transaction.view.collection(name)?.id ?? 0, given.key, given.lang)
          assert.equal(head === undefined, known === undefined)
          if (head === undefined || known === undefined) continue
          if (kind === 'delete') {
            carryOut(transaction, [decideDelete(transaction, head)])
            present.delete(identity(given))
          } else {
            carryOut(transaction, decideExpiry(transaction, head, given.expiresAt).steps)
            present.set(identity(given), { ...known, expiresAt: given.expiresAt })
          }
        }
        const first = transaction.view.find(transaction.view.collection(name)?.id ?? 0, 'first', 'en') ?? assert.fail('no document')
        carryOut(transaction, [decideDelete(transaction, first)])
      })
      assert.deepEqual(shown, checksumsOf([...present.values()]))
    }),
    { numRuns: 200 },
  )
})
