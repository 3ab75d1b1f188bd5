/**
 * Names that older versions accepted: collections and languages with `|`, and Greek names whose two small
 * sigmas made two documents of one name. The backup was made by such a version. All stay readable, each by
 * its own spelling. New names of the first kind are refused, and of the second kind they are one document.
 * All cases run in plaintext and in encrypted collections, whose rows are stored under hashes of the same old
 * forms. docs/decisions/documents/documents.md.
 */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { DocumentsClient, NOT_FOUND, summary, type Fields } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const BACKUP = join(findRoot(dirname(fileURLToPath(import.meta.url))), 'test', 'golden', 'names_of_before', 'names.db')

const OLD_COLLECTIONS = ['C', 'C|a', 'old', 'greek', 'ΤΟΠΟΣ']
const KEY = Buffer.alloc(32, 3).toString('base64')
/** Documents of the older version, each with a unique word. */
const SOURCES = [
  ['otter', 'C', 'a|b', 'en'],
  ['lynx', 'C|a', 'b', 'en'],
  ['heron', 'old', 'k', 'x|y'],
  ['owl', 'old', 'k|x', 'y'],
  ['badger', 'greek', 'ΑΣ', 'el'],
  ['beaver', 'greek', 'ασ', 'el'],
] as const

for (const isSealed of [false, true]) {
  describe(`names of older versions, ${isSealed ? 'encrypted' : 'plaintext'}`, () => {
    let client: DocumentsClient
    let provider: EmbeddingServer
    let env: Record<string, string>
    before(async () => {
      provider = await EmbeddingServer.start()
      provider.dimensions = 64
      env = embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: '64', SVC_ENCRYPTION_KEY: KEY })
      client = await DocumentsClient.start({ env })
      mkdirSync(join(client.server.directory, 'backups'), { recursive: true })
      copyFileSync(BACKUP, join(client.server.directory, 'backups', 'names.db'))
      await restore()
    })
    after(async () => {
      await client.stop()
      await provider.stop()
    })

    /** The store as the older version left it, except for the encryption. */
    const restore = async (): Promise<void> => {
      assert.equal((await client.post('/v1/restore', { from: 'names.db' })).status, 200)
      for (const collection of OLD_COLLECTIONS) await seal(collection)
      await sealRows()
    }
    /** Encrypts data written from now on. */
    const seal = async (collection: string): Promise<void> => {
      if (isSealed) assert.equal((await client.server.request('PUT', '/v1/collection-config', { collection, encrypted: true })).status, 200)
    }
    /** Encrypts the existing rows: every row of the old version, under the old form of its name. */
    const sealRows = async (): Promise<void> => {
      if (!isSealed) return
      const { id } = (await client.post('/v1/encryption/rotate', {})).json()
      const job = async (): Promise<unknown> => (await client.server.get(`/v1/encryption/jobs/${String(id)}`)).json().status
      await client.until(async () => (await job()) === 'completed', 'the rotation')
    }
    const requireSealed = async (name: string): Promise<void> => {
      const { collections } = (await client.server.get('/v1/encryption/status')).json<{ collections: Record<string, unknown>[] }>()
      const { encrypted, plaintext, total } = collections.find(({ collection }) => collection === name) ?? {}
      assert.deepEqual([encrypted === true, plaintext === 0, Number(total) > 0], [isSealed, isSealed, true], name)
    }
    const contentOf = async (collection: string, key: string, lang: string): Promise<unknown> => {
      const answer = await client.post('/v1/get', { collection, key, lang })
      return answer.status === 200 ? answer.json().contentMd : summary(answer)
    }
    const write = async (collection: string, key: string, lang: string, contentMd: string): Promise<Fields> => {
      const answer = await client.post('/v1/add', { collection, key, lang, contentMd })
      assert.equal(answer.status, 200, answer.text)
      return answer.json()
    }

    it('names: sourceDocID means the document with just this name in the collection that stands beside it, with | and both sigmas of older versions', async () => {
      for (const collection of OLD_COLLECTIONS) await requireSealed(collection)
      for (const [word, collection, key, lang] of SOURCES) {
        await client.add('words', word, { contentMd: word })
        await write(collection, key, lang, word)
      }
      await whenEmbedded(client.server, { words: SOURCES.length, C: 1, 'C|a': 1 })
      const meant = async (sourceCollection: string, sourceDocID: string, more: Fields = {}): Promise<unknown> => {
        const source = { sourceCollection, sourceDocID, targetCollections: ['words'], topK: 1 }
        const answer = await client.post('/v1/cross-search', { ...source, ...more })
        assert.equal(answer.status, 200, `${sourceCollection} ${sourceDocID}: ${answer.text}`)
        return answer.json<{ results: { document: { key: string } }[] }>().results[0]?.document.key
      }
      for (const id of ['c|a|b|en', 'C|a|b|en', 'C|A|B|EN'])
        assert.deepEqual([await meant('C', id), await meant('c|A', id)], ['otter', 'lynx'], id)
      assert.equal(await meant('old', 'old|k|x|y'), 'owl', 'of two with one id the one whose language has no |')
      assert.deepEqual([await meant('greek', 'greek|ΑΣ|el'), await meant('greek', 'greek|ας|el'), await meant('Greek', 'GREEK|ασ|el')], ['badger', 'badger', 'beaver']) // prettier-ignore
      assert.equal(await meant('C|a', 'c|a|b|en', { targetCollections: ['C', 'C|a'] }), 'a|b', 'all but itself')
      const wrong = await client.post('/v1/cross-search', { sourceCollection: 'C|a|b', sourceDocID: 'c|a|b|en' })
      assert.equal(summary(wrong), NOT_FOUND)
      assert.equal((await client.post('/v1/delete', { collection: 'old', key: 'k|x', lang: 'y' })).status, 200)
      assert.equal(await meant('old', 'old|k|x|y'), 'heron')
      await restore()
    })

    it('names: collections and languages with a | are read, written and deleted as before; new ones are refused, also by settings and batches', async () => {
      const old = [
        ['C', 'a|b', 'en', 'of C'],
        ['C|a', 'b', 'en', 'of C|a'],
        ['old', 'k', 'x|y', 'lang with a bar'],
        ['old', 'k|x', 'y', 'key with a bar'],
      ] as const
      for (const [collection, key, lang, content] of old) {
        assert.equal(await contentOf(collection, key, lang), content)
        await write(collection, key, lang, `${content} again`)
        assert.equal(await contentOf(collection, key, lang), `${content} again`)
      }
      await write('C|a', 'new', 'en', 'into an old collection')
      const add = async (collection: string, lang: string): Promise<string> =>
        summary(await client.post('/v1/add', { collection, key: 'k', lang, contentMd: '' }))
      assert.equal(await add('new|one', 'en'), '400 {"error":"invalid collection: | is not allowed"}')
      assert.equal(await add('old', 'e|n'), '400 {"error":"invalid lang: | is not allowed"}')
      const documents = [{ key: 'k', lang: 'a|b', contentMd: '' }, { key: 'fine', lang: 'en', contentMd: '' }] // prettier-ignore
      const batch = (await client.post('/v1/add-batch', { collection: 'old', documents })).json()
      assert.deepEqual([batch.added, batch.failed, batch.errors], [1, 1, ['k: invalid lang: | is not allowed']])
      const config = await client.server.request('PUT', '/v1/collection-config', { collection: 'new|one', description: 'x' })
      assert.equal(summary(config), '400 {"error":"invalid collection: | is not allowed"}')
      assert.equal((await client.server.request('PUT', '/v1/collection-config', { collection: 'C|a', description: 'x' })).status, 200)
      assert.equal((await client.post('/v1/delete', { collection: 'old', key: 'k', lang: 'x|y' })).status, 200)
      assert.equal(await contentOf('old', 'k|x', 'y'), 'key with a bar again')
    })

    it('names: two documents that an older version made of one Greek name stay two, each by its own spelling, over writes, restarts and deletes', async () => {
      assert.deepEqual([await contentOf('greek', 'ΑΣ', 'el'), await contentOf('greek', 'ασ', 'el')], ['final', 'medial'])
      assert.equal(await contentOf('greek', 'ας', 'el'), NOT_FOUND, 'never written')
      await write('greek', 'ας', 'el', 'final again')
      await write('greek', 'ασ', 'el', 'medial again')
      await client.server.kill()
      client = await DocumentsClient.start({ env, directory: client.server.directory })
      assert.deepEqual([await contentOf('greek', 'ΑΣ', 'el'), await contentOf('greek', 'ας', 'el'), await contentOf('greek', 'ασ', 'el')], ['final again', 'final again', 'medial again']) // prettier-ignore
      assert.equal((await client.post('/v1/delete', { collection: 'greek', key: 'ας', lang: 'el' })).status, 200)
      assert.deepEqual([await contentOf('greek', 'ΑΣ', 'el'), await contentOf('greek', 'ασ', 'el')], [NOT_FOUND, 'medial again'])
      // The name is one document from now on.
      await write('greek', 'ΑΣ', 'el', 'one')
      assert.deepEqual([await contentOf('greek', 'ΑΣ', 'el'), await contentOf('greek', 'ασ', 'el')], ['one', 'one'])
      assert.equal((await client.post('/v1/delete', { collection: 'greek', key: 'ασ', lang: 'el' })).status, 200)
      assert.equal(await contentOf('greek', 'ΑΣ', 'el'), NOT_FOUND)
    })

    it('names: a Greek name of an older version is found and written by every form of its sigmas', async () => {
      await write('greek', 'οδοσ', 'el', 'the same road')
      assert.deepEqual([await contentOf('greek', 'ΟΔΟΣ', 'el'), await contentOf('greek', 'οδοσ', 'el')], ['the same road', 'the same road'])
      assert.equal(await contentOf('τοποσ', 'k', 'el'), 'place')
      assert.equal(await contentOf('ΤΟΠΟΣ', 'k', 'el'), 'place')
      await write('τοπος', 'l', 'el', 'in the same collection')
      const deleted = await client.post('/v1/delete-collection', { collection: 'τοποσ' })
      assert.equal(deleted.json().deletedCount, 2, deleted.text)
      assert.equal(await contentOf('ΤΟΠΟΣ', 'k', 'el'), NOT_FOUND)
    })

    it('identity: the forms of the Greek sigma are one letter in collections, keys and languages, sealed or not', async () => {
      const c = client.collection()
      await seal(`${c}Σ`)
      for (const [name, spellings] of [
        ['οδος', ['ΟΔΟΣ', 'οδος', 'οδοσ', 'Οδος']],
        ['σισυφος', ['ΣΙΣΥΦΟΣ', 'σισυφος', 'σισυφοσ']],
      ] as const) {
        for (const [at, key] of spellings.entries()) {
          const { id } = await write(`${c}Σ`, key, 'ΕΛΣ', `text ${at}`)
          assert.equal(id, `${c}σ|${name}|ελς`)
        }
        assert.equal((await client.search(`${c}ς`)).total, 1)
        for (const key of spellings) assert.equal(await contentOf(`${c}σ`, key, 'ΕΛΣ'), `text ${spellings.length - 1}`, key)
        await requireSealed(`${c}Σ`)
        assert.equal((await client.post('/v1/delete', { collection: `${c}ς`, key: name, lang: 'ΕΛΣ' })).status, 200)
        for (const key of spellings) assert.equal(await contentOf(`${c}Σ`, key, 'ΕΛΣ'), NOT_FOUND, key)
      }
    })
  })
}
