/**
 * Sealed records: a sealed record can be opened only at its position and with its key, and is then unchanged.
 * Both cipher implementations produce and accept the same bytes.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import type { PreparedDocument } from '../../../src/domain/commands.js'
import { decidePut } from '../../../src/domain/decision.js'
import { encodeUpsert } from '../../../src/engine/search/index_batch.js'
import { openEngine } from '../../../src/engine/search/native_engine.js'
import { encodeBody, escapeContent, unescapeContent } from '../../../src/store/body.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { bodyKey, documentKey } from '../../../src/store/rows/keys.js'
import { checkRecord, CorruptRecord } from '../../../src/store/rows/record.js'
import type { Cipher } from '../../../src/store/sealing/cipher.js'
import { nodeCipher } from '../../../src/store/sealing/cipher.js'
import type { SealedAddress } from '../../../src/store/sealing/sealed_record.js'
import { openWith, sealWith } from '../../../src/store/sealing/sealed_record.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { holds } from '../../harness/property.js'
import { keyringWith } from '../../harness/store/sealing.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-sealing-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length })

describe('ciphers', () => {
  const native: Cipher = openEngine().cipher

  it('the engine and Node make the same bytes, and each opens what the other has sealed', () => {
    holds(
      fc.property(
        bytes(32),
        bytes(12),
        fc.uint8Array({ maxLength: 64 }),
        fc.uint8Array({ minLength: 1, maxLength: 5000 }),
        (key, nonce, associated, text) => {
          const [one, other] = [nodeCipher, native].map((cipher) => {
            const sealed = new Uint8Array(text.length + 16)
            cipher.seal(key, nonce, associated, text, sealed)
            return sealed
          })
          assert.deepEqual(one, other)
          const records = [nodeCipher, native].map((cipher) => {
            const ring = keyringWith(1, cipher)
            const address: SealedAddress = { kind: 'body', key: associated, clearBytes: 8 }
            const sealed = sealWith(ring, key, 1, address, Buffer.concat([Buffer.alloc(8), text]))
            return [nodeCipher, native].map((other) => openWith(keyringWith(1, other), key, address, sealed, () => 'r'))
          })
          const [first, ...others] = records.flat()
          assert.deepEqual(first?.subarray(8), Buffer.from(text))
          checkRecord(first, 8, () => 'r')
          for (const record of others) assert.deepEqual(record, first)
        },
      ),
    )
  })

  it('the engine and Node make the same HMAC of texts of any length, whatever key came before', () => {
    const hashWith = (cipher: Cipher, key: Uint8Array, text: Uint8Array): Uint8Array => {
      const hash = new Uint8Array(32)
      cipher.hmac(key, text, hash)
      return hash
    }
    fc.assert(
      fc.property(fc.array(fc.tuple(bytes(32), fc.uint8Array({ maxLength: 9000 })), { minLength: 1, maxLength: 4 }), (tags) => {
        for (const [key, text] of tags) assert.deepEqual(hashWith(native, key, text), hashWith(nodeCipher, key, text))
      }),
    )
    const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    for (const key of [first, second, first]) {
      for (const length of [0, 1, 63, 64, 65, 100_000]) {
        const text = new Uint8Array(length).fill(7)
        assert.deepEqual(hashWith(native, key, text), hashWith(nodeCipher, key, text))
      }
    }
  })
})

describe('sealed records', () => {
  const keyring = keyringWith(1)
  const key = keyring.derive(1, 'test') as Uint8Array

  it('a record opens unchanged under its own row key, and not under another row key, another key or with one bit changed', () => {
    const address = fc.record({
      kind: fc.constantFrom('state' as const, 'body' as const, 'entry' as const),
      key: fc.uint8Array({ maxLength: 40 }),
      clearBytes: fc.constantFrom(8, 12, 16),
    })
    holds(
      fc.property(address, fc.uint8Array({ minLength: 20, maxLength: 300 }), fc.nat(), (where: SealedAddress, given, bit) => {
        const record = Buffer.from(given)
        record[6] = 0
        const sealed = sealWith(keyring, key, 1, where, record)
        const name = (): string => 'r'
        assert.deepEqual(openWith(keyring, key, where, sealed, name).subarray(5), record.subarray(5))
        const refused = (at: SealedAddress, by: Uint8Array, what: Buffer): void => {
          assert.throws(() => openWith(keyring, by, at, what, name), CorruptRecord)
        }
        refused({ ...where, key: Buffer.concat([where.key, Buffer.from([1])]) }, key, sealed)
        refused({ ...where, kind: 'setting' }, key, sealed)
        refused(where, keyring.derive(2, 'test') as Uint8Array, sealed)
        const changed = Buffer.from(sealed)
        const at = 4 + (bit % (changed.length - 4))
        changed[at] = (changed[at] as number) ^ (1 << (bit % 8))
        refused(where, key, changed)
      }),
    )
  })

  it('two seals of the same record share no nonce', () => {
    const where: SealedAddress = { kind: 'body', key: Buffer.alloc(4), clearBytes: 8 }
    const nonces = Array.from({ length: 1000 }, () => sealWith(keyring, key, 1, where, Buffer.alloc(20)).toString('hex', 8, 20))
    assert.equal(new Set(nonces).size, 1000)
  })
})

function prepared(key: string, content: string): PreparedDocument {
  const escaped = escapeContent(content)
  return {
    key,
    lang: 'en',
    meta: '{}',
    metaTriples: 0,
    flags: 0,
    contentHash: 1n,
    body: { kind: 'new', record: encodeBody(escaped, { enabled: false, smallThreshold: 0, mediumThreshold: 0 }), rawBytes: escaped.length },
    escaped,
    index: Buffer.from(encodeUpsert({ collection: 0, key, lang: 'en', meta: [], fields: [] })),
    ttl: null,
    settingsLsn: 0n,
  }
}

describe('records that were moved', () => {
  it('heads, bodies and identities that were copied to another document or collection do not open, and are named', async () => {
    const { generationPath } = openDataDirectory(join(folder, 'moved'))
    const store = new TruthStore(generationPath, 0, keyringWith(1))
    store.beginSealing()
    const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
    for (const collectionName of ['one', 'two'])
      await writer.group(
        () => 1,
        (transaction) => {
          const collection = transaction.nextCollection
          const entry = {
            lsn: transaction.nextLsn,
            collection,
            docid: 0,
            collectionName,
            isSealed: true,
            salt: Buffer.alloc(32, collection),
          }
          transaction.apply({ kind: 'sealing', ...entry }, undefined)
          for (const key of ['a', 'b'])
            for (const step of decidePut(transaction, collectionName, prepared(key, `${collectionName} ${key}`)).steps)
              transaction.apply(step.entry, step.body)
        },
      )
    const content = (collection: number, key: string): string =>
      store.read((view) => {
        const head = view.find(collection, key, 'en')
        return head === undefined ? 'none' : unescapeContent(view.escapedContent(head))
      })
    assert.deepEqual([content(1, 'a'), content(1, 'b'), content(2, 'a')], ['one a', 'one b', 'two a'])

    const environment = openEnvironment(generationPath)
    const { heads, bodies, sealedIdentities } = environment
    const copy = (table: typeof heads, from: Buffer, to: Buffer): Buffer => {
      const was = table.get(to) as Buffer
      environment.root.transactionSync(() => void table.put(to, table.get(from) as Buffer))
      return was
    }
    const restore = (table: typeof heads, at: Buffer, was: Buffer): void => environment.root.transactionSync(() => void table.put(at, was))
    for (const [from, to, name] of [
      [documentKey(1, 1), documentKey(1, 2), /corrupt record head 1\/2: its seal/],
      [documentKey(2, 2), documentKey(1, 2), /corrupt record head 1\/2: its seal/],
    ] as const) {
      const was = copy(heads, from, to)
      assert.throws(() => content(1, 'b'), name)
      restore(heads, to, was)
    }
    const lsns = [...bodies.getKeys()].map((key) => Buffer.from(key).readBigUInt64BE(8))
    const [first, second] = [bodyKey(1, 1, lsns[0] as bigint), bodyKey(1, 2, lsns[1] as bigint)]
    const body = copy(bodies, first, second)
    assert.throws(() => content(1, 'b'), /corrupt record body 1\/2\/\d+: its seal/)
    restore(bodies, second, body)
    const rows = [...sealedIdentities.getKeys()].map((key) => Buffer.from(key)).filter((key) => key.readUInt32BE(0) === 1)
    copy(sealedIdentities, rows[0] as Buffer, rows[1] as Buffer)
    const answers = ['a', 'b'].map((key) => {
      try {
        return content(1, key)
      } catch (error) {
        return error instanceof CorruptRecord && /identity 1\//.test(error.message) ? 'refused' : String(error)
      }
    })
    assert.deepEqual(answers.filter((answer) => answer === 'refused').length, 1, answers.join())
    await store.close()
  })
})
