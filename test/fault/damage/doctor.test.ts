/**
 * `mds doctor` over intact stores and over stores with one damaged item each: it names the damage, changes
 * nothing, and exits with 0, 1 or 2.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { encodeBody } from '../../../src/store/body.js'
import { readCollectionCounters, writeCollectionCounters } from '../../../src/store/counters.js'
import type { Environment, TableName } from '../../../src/store/environment.js'
import { openEnvironment, openTable, TABLES } from '../../../src/store/environment.js'
import { bodyKey, collectionKey, counterKey, documentKey, identityKey } from '../../../src/store/rows/keys.js'
import { TALLIED } from '../../../src/store/tally.js'
import { View } from '../../../src/store/view.js'
import { spawn } from '../../harness/process/owned_processes.js'
import { startServer } from '../../harness/server/server.js'
import { makeFilledStore, STORE_ENV as env, storeKeyring } from '../../harness/store/filled_store.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-doctor-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const MDS = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))
const whole = join(folder, 'whole')

before(async () => {
  await makeFilledStore(whole)
  const server = await startServer({ directory: whole, env })
  try {
    for (const text of ['one', 'two', 'three'])
      assert.equal(
        (await server.post('/v1/add', { collection: 'Plain', key: 'doc-3', lang: 'en', contentMd: text.repeat(500) })).status,
        200,
      )
    assert.equal(await server.stop(), 0, server.output())
  } finally {
    await server.kill()
  }
})

interface Examined {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function doctor(directory: string, keys: Readonly<Record<string, string>> = env): Promise<Examined> {
  const child = spawn(process.execPath, [MDS, 'doctor', '--db', directory], { env: { ...process.env, ...keys } })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

let copies = 0

/** A changed copy of the whole store; the server is down. */
async function changed(change: (environment: Environment, view: View) => void): Promise<string> {
  const directory = join(folder, `copy-${copies++}`)
  cpSync(whole, directory, { recursive: true })
  const environment = openEnvironment(join(directory, 'gen-000001'), storeKeyring())
  environment.root.transactionSync(() => change(environment, new View(environment, 0)))
  await environment.root.close()
  return directory
}

/** Changes a value in its stored form, checksum included. */
function flip({ root }: Environment, of: TableName, key: Buffer, at: (stored: Buffer) => number): void {
  const raw = openTable(root, TABLES[of][0])
  const stored = Buffer.from(raw.get(key) as Buffer)
  stored[at(stored)] = (stored[at(stored)] as number) ^ 1
  void raw.put(key, stored)
}

const idOf = (view: View, name: string): number => view.collection(name)?.id ?? assert.fail(name)
const docidOf = (view: View, key: string): number => view.identity(idOf(view, 'plain'), key, 'en')?.docid ?? assert.fail(key)

async function finds(directory: string, ...lines: readonly RegExp[]): Promise<void> {
  const { code, stdout, stderr } = await doctor(directory)
  assert.equal(code, 1, stdout + stderr)
  for (const line of lines) assert.match(stdout, line)
  assert.match(stdout, /^damaged: \d+ findings in \d+ rows: /m)
}

describe('mds doctor', () => {
  it('doctor: a store that is whole has no finding and is not changed', async () => {
    const file = join(whole, 'gen-000001', 'truth.mdb')
    const bytes = readFileSync(file)
    const { code, stdout, stderr } = await doctor(whole)
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^healthy: \d{3} rows read, nothing is damaged\n$/)
    assert.equal(stderr, '')
    assert.ok(readFileSync(file).equals(bytes))
  })

  it('doctor: names an identity that is gone, and one of a document that is gone', async () => {
    const gone = await changed(({ identities }, view) => identities.remove(identityKey(idOf(view, 'plain'), 'doc-3', 'en')))
    await finds(gone, /^head_without_identity: collection \d+, document \d+ "doc-3\|en": no identity leads to it$/m)
    const head = await changed(({ heads }, view) => heads.remove(documentKey(idOf(view, 'plain'), docidOf(view, 'doc-3'))))
    await finds(head, /^identity_without_head: identities: collection \d+ "doc-3\|en": it leads to document \d+, which is not there$/m)
    await finds(head, /^counters_differ: collection \d+, documents: \d+ noted, \d+ counted$/m)
  })

  it('doctor: names a flipped row of every kind', async () => {
    const flipped: readonly (readonly [TableName, (view: View) => Buffer, RegExp])[] = [
      ['identities', (view) => identityKey(idOf(view, 'plain'), 'doc-3', 'en'), /^row_damaged: identities: collection \d+ "doc-3\|en": /m],
      ['heads', (view) => documentKey(idOf(view, 'plain'), docidOf(view, 'doc-3')), /^row_damaged: heads: collection \d+, document \d+: /m],
      ['counters', (view) => counterKey(idOf(view, 'plain')), /^row_damaged: counters: collection \d+: /m],
      ['collections', () => collectionKey('plain'), /^row_damaged: collections: [\s\S]*^collection_missing: collection \d+: /m],
      [
        'bodies',
        (view) => {
          const head = view.find(idOf(view, 'plain'), 'doc-3', 'en') ?? assert.fail('no doc-3')
          return bodyKey(head.collection, head.docid, head.bodyLsn)
        },
        /^row_damaged: bodies: collection \d+, document \d+ [0-9a-f]{16}: /m,
      ],
    ]
    for (const [of, key, line] of flipped) {
      const directory = await changed((environment, view) => flip(environment, of, key(view), (stored) => stored.length - 6))
      await finds(directory, line)
    }
  })

  it('doctor: names a body that is gone, a wrong number of references, and counters that count otherwise', async () => {
    const body = await changed(({ bodies }, view) => {
      const head = view.find(idOf(view, 'plain'), 'doc-3', 'en') ?? assert.fail('no doc-3')
      bodies.remove(bodyKey(head.collection, head.docid, head.bodyLsn))
    })
    await finds(body, /^body_missing: collection \d+, document \d+, body \d+: /m)
    const count = await changed(({ bodyCounts }, view) => {
      const head = view.find(idOf(view, 'plain'), 'doc-3', 'en') ?? assert.fail('no doc-3')
      bodyCounts.put(bodyKey(head.collection, head.docid, head.bodyLsn), Buffer.from([5, 0, 0, 0]))
    })
    await finds(count, /^body_count_wrong: collection \d+, document \d+, body \d+: 5 references noted, 1 counted$/m)
    for (const field of TALLIED) {
      const counters = await changed((environment, view) => {
        const id = idOf(view, 'plain')
        const stored = readCollectionCounters(environment, id)
        writeCollectionCounters(environment, id, {
          ...stored,
          [field]: typeof stored[field] === 'bigint' ? stored[field] ^ 1n : stored[field] + 1,
        })
      })
      await finds(counters, new RegExp(`^counters_differ: collection \\d+, ${field}: \\d+ noted, \\d+ counted$`, 'm'))
    }
  })

  it('doctor: names a content that is not the one of its document', async () => {
    const directory = await changed(({ bodies }, view) => {
      const head = view.find(idOf(view, 'plain'), 'doc-3', 'en') ?? assert.fail('no doc-3')
      const compression = { enabled: false, smallThreshold: 0, mediumThreshold: 0 }
      bodies.put(bodyKey(head.collection, head.docid, head.bodyLsn), encodeBody(Buffer.from('another content'), compression))
    })
    await finds(directory, /^content_differs: collection \d+, document \d+: its hash is that of another content$/m)
  })

  it('doctor: shows of an encrypted collection numbers only', async () => {
    const directory = await changed(({ heads }, view) => {
      const { collection, docid } = view.find(idOf(view, 'sealed'), 'doc-3', 'en') ?? assert.fail('no doc-3')
      heads.remove(documentKey(collection, docid))
    })
    const { code, stdout } = await doctor(directory)
    assert.equal(code, 1, stdout)
    assert.match(
      stdout,
      /^identity_without_head: sealed-identities: collection \d+ [0-9a-f]+: it leads to document \d+, which is not there$/m,
    )
    assert.doesNotMatch(stdout, /doc-3/)
  })

  it('doctor: a killed check proves nothing about the store: exit code 2', async () => {
    const preload = join(folder, 'killed.cjs')
    writeFileSync(
      preload,
      `if (process.argv[1].endsWith('doctor_check.js')) {
        const { send } = process
        process.send = (...message) => send.apply(process, message) && process.kill(process.pid, 'SIGKILL')
      }`,
    )
    const { code, stdout, stderr } = await doctor(whole, { ...env, NODE_OPTIONS: `--require ${preload}` })
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(stderr, 'mds: the process that reads the store was ended from outside (SIGKILL, at pages)\n')
  })

  it('doctor: a served store, a store without its keys and a folder without a store are refused in one line with code 2', async () => {
    const served = join(folder, 'served')
    cpSync(whole, served, { recursive: true })
    const server = await startServer({ directory: served, env })
    try {
      const { code, stdout, stderr } = await doctor(served)
      assert.deepEqual([code, stdout, stderr], [2, '', `mds: ${served} is in use by another process\n`])
    } finally {
      assert.equal(await server.stop(), 0)
    }
    const locked = await doctor(whole, {})
    assert.deepEqual([locked.code, locked.stderr], [2, 'mds: collection sealed is encrypted and SVC_ENCRYPTION_KEY is not set\n'])
    const nothing = await doctor(join(folder, 'nothing'))
    assert.deepEqual([nothing.code, nothing.stderr], [2, `mds: ${join(folder, 'nothing')} holds no data directory\n`])
  })
})
