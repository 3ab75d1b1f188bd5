/** gRPC through its real port: every RPC of an operation, the rules of presence, refusals. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { status } from '@grpc/grpc-js'
import { operations } from '../../../src/operations/index.js'
import { GrpcClient, type Message } from '../../harness/clients/grpc.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

let server: Server
let client: GrpcClient
const ID = { collection: 'c', key: 'k', lang: 'en' }

before(async () => {
  server = await startServer({ env: { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' } })
  client = GrpcClient.of(server)
})
after(async () => {
  client.close()
  assert.equal(await server.stop(), 0)
})
beforeEach(async () => {
  await client.call('DeleteCollection', { collection: 'c' })
  await client.call('Add', { ...ID, content_md: 'first words', meta: { tag: { values: ['a', 'b'] } }, save_revision: true })
})

type Documents = { readonly documents: readonly { readonly key: string }[]; readonly total: number }
const revisions = async (): Promise<number> => (await client.call<{ readonly total: number }>('ListRevisions', ID)).total

describe('grpc', () => {
  it('grpc: Add answers the document, with int64 as text for the clients that ask for it, and Get the same', async () => {
    const added = await client.call('Add', { ...ID, key: 'n', content_md: '# N', meta: { n: { values: ['1'] } }, ttl: 3600 })
    const { id, key, lang, content_md, meta, added_at, expires_at } = added
    assert.deepEqual(
      { id, key, lang, content_md, meta },
      { id: 'c|n|en', key: 'n', lang: 'en', content_md: '# N', meta: { n: { values: ['1'] } } },
    )
    assert.equal(Number(expires_at), Number(added_at) + 3600)
    assert.deepEqual(await client.call('Get', { ...ID, key: 'n' }), added)
    const overHttp = (await server.post('/v1/get', { ...ID, key: 'n' })).json()
    assert.deepEqual([overHttp.contentMd, overHttp.expiresAt], ['# N', Number(expires_at)])
  })

  it('grpc: Get fills the templates of the content from env', async () => {
    await client.call('Add', { ...ID, content_md: 'Hello %%name%%' })
    assert.equal((await client.call('Get', { ...ID, env: { name: 'Ada' } })).content_md, 'Hello Ada')
  })

  it('grpc: a revision is kept only where save_revision asks for one', async () => {
    assert.equal(await revisions(), 1)
    await client.call('Add', { ...ID, content_md: 'second words' })
    assert.equal(await revisions(), 1)
    await client.call('Add', { ...ID, content_md: 'third words', save_revision: true })
    assert.equal(await revisions(), 2)
    await client.call('AddBatch', { collection: 'c', documents: [{ key: 'k', lang: 'en', content_md: 'fourth' }] })
    assert.equal(await revisions(), 2)
    await client.call('AddBatch', { collection: 'c', documents: [{ key: 'k', lang: 'en', content_md: 'fifth', save_revision: true }] })
    assert.equal(await revisions(), 3)
  })

  it('grpc: an empty content is a content, and an empty batch an empty answer', async () => {
    assert.equal((await client.call('Add', { ...ID, key: 'empty', content_md: '' })).content_md, '')
    const answer = await client.call('AddBatch', { collection: 'c', documents: [{ key: 'e2', lang: 'en', content_md: '' }] })
    assert.equal(answer.added, 1)
    assert.deepEqual(await client.call('AddBatch', { collection: 'c' }), {
      added: 0,
      updated: 0,
      failed: 0,
      errors: [],
      embedding_dropped: 0,
    })
  })

  it('grpc: UpdateDocument applies what its flags name, and nothing else', async () => {
    const update = async (change: object): Promise<Message> => await client.call('UpdateDocument', { ...ID, ...change })
    const before = await client.call('Get', ID)
    assert.equal((await update({ content_md: 'changed', meta: { x: { values: ['1'] } }, update_content: true })).content_md, 'changed')
    assert.deepEqual((await client.call('Get', ID)).meta, before.meta)
    assert.deepEqual((await update({ update_meta: true })).meta, {})
    const withTtl = await update({ ttl: 60, update_ttl: true })
    assert.equal(Number(withTtl.expires_at) > 0, true)
    assert.equal((await update({ ttl: 0, update_ttl: true })).expires_at, '0')
    assert.deepEqual(await client.refusal('UpdateDocument', { ...ID, content_md: 'ignored' }), [
      status.INVALID_ARGUMENT,
      'no fields to update',
    ])
  })

  it('grpc: UpdateBatch updates documents that exist, each alone, and counts the others', async () => {
    await client.call('Add', { ...ID, key: 'other', content_md: 'other words', meta: { n: { values: ['1'] } } })
    const answer = await client.call('UpdateBatch', {
      collection: 'c',
      documents: [
        { key: 'k', lang: 'en', content_md: 'updated', save_revision: true },
        { key: 'other', lang: 'en', meta: { n: { values: ['2'] } } },
        { key: 'nothing', lang: 'en', content_md: 'x' },
        { key: '', lang: 'en', content_md: 'x' },
        { key: 'k', lang: 'en' },
      ],
    })
    assert.deepEqual([answer.updated, answer.not_found, answer.failed], [2, 1, 2])
    assert.deepEqual(answer.errors, ['documents[3]: missing key or lang', 'documents[4]: no fields to update'])
    assert.equal((await client.call('Get', ID)).content_md, 'updated')
    const other = await client.call('Get', { ...ID, key: 'other' })
    assert.deepEqual([other.content_md, other.meta], ['other words', { n: { values: ['2'] } }])
    assert.equal(await revisions(), 2)
    assert.equal((await client.call<{ readonly total: number }>('ListRevisions', { ...ID, key: 'other' })).total, 0)
    const many = Array.from({ length: 10_001 }, () => ({ key: 'k', lang: 'en', content_md: 'x' }))
    const [code, details] = await client.refusal('UpdateBatch', { collection: 'c', documents: many })
    assert.deepEqual([code, /10001, at most 10000/.test(details)], [status.INVALID_ARGUMENT, true])
  })

  it('grpc: a batch of updates of one document loses none of them', async () => {
    const documents = Array.from({ length: 50 }, (_, at) =>
      at % 2 === 0
        ? { key: 'k', lang: 'en', content_md: `content ${at}` }
        : { key: 'k', lang: 'en', meta: { n: { values: [String(at)] } } },
    )
    assert.equal((await client.call('UpdateBatch', { collection: 'c', documents })).updated, 50)
    const { content_md, meta } = await client.call('Get', ID)
    assert.deepEqual([content_md, meta], ['content 48', { n: { values: ['49'] } }])
  })

  it('grpc: Search gives the newest first, 50 of all that match, and counts all', async () => {
    const documents = Array.from({ length: 60 }, (_, at) => ({
      key: `d${at}`,
      lang: 'en',
      content_md: `${at}`,
      meta: { n: { values: [String(at % 2)] } },
    }))
    await client.call('AddBatch', { collection: 'c', documents })
    const all = await client.call<Documents>('Search', { collection: 'c' })
    assert.deepEqual([all.documents.length, all.total], [50, 61])
    const old = { key: 'zz', lang: 'en', contentMd: 'x', addedAt: 1_000_000_000, updatedAt: 1_000_000_000 }
    assert.equal((await server.post('/v1/add-batch', { collection: 'c', keepTimes: true, documents: [old] })).status, 200)
    assert.equal((await client.call<Documents>('Search', { collection: 'c', limit: 100 })).documents.at(-1)?.key, 'zz')
    await client.call('DeleteDocument', { ...ID, key: 'zz' })
    await client.call('SetTTL', { ...ID, key: 'd7', ttl: 60 })
    const some = await client.call<Documents>('Search', {
      collection: 'c',
      filter_meta: { n: { values: ['1'] } },
      sort: 'key',
      asc: true,
      limit: 2,
      offset: 1,
    })
    assert.deepEqual([some.documents.map(({ key }) => key), some.total], [['d11', 'd13'], 30])
  })

  it('grpc: deletes, expiry, truncation, counts and checksums are those of HTTP', async () => {
    await client.call('AddBatch', { collection: 'c', documents: [{ key: 'x', lang: 'en', content_md: 'x' }] })
    assert.deepEqual(await client.call('DeleteBatch', { collection: 'c', documents: [{ key: 'x', lang: 'en' }, { key: 'y', lang: 'en' }] }), {
      deleted: 1, not_found: 1, failed: 0, errors: [],
    }) // prettier-ignore
    const checksum = await client.call('GetChecksum', { collection: 'c' })
    const overHttp = (await server.get('/v1/checksum?collection=c')).json()
    assert.deepEqual([checksum.checksum, checksum.checksum64, checksum.document_count], [overHttp.checksum, overHttp.checksum64, 1])
    assert.match(String(checksum.checksum64), /^[0-9a-f]{16}$/)
    const stats = await client.call('Stats', {})
    const found = (stats.collections as readonly Record<string, unknown>[]).find(({ name }) => name === 'c')
    assert.deepEqual([found?.checksum, found?.checksum64], [overHttp.checksum, overHttp.checksum64])
    assert.deepEqual((await client.call('GetMetaKeys', { collection: 'c' })).meta, { tag: { values: ['a', 'b'] } })
    assert.equal((await client.call('GetDocumentMeta', ID)).added_at !== '0', true)
    assert.notEqual((await client.call('SetTTL', { ...ID, ttl: 60 })).expires_at, '0')
    assert.equal((await client.call('SetTTL', { ...ID, ttl: 0 })).expires_at, '0')
    assert.equal((await client.call('Truncate', { collection: 'c', keep_revs: 0 })).status, 'truncated')
    assert.equal(await revisions(), 0)
    assert.deepEqual(await client.call('DeleteDocument', ID), { status: 'deleted', collection: 'c', key: 'k', lang: 'en' })
    const { total_documents, collections, mode } = await client.call('Stats', {})
    assert.deepEqual([total_documents, mode, (collections as readonly Message[]).length], [0, 'wr', 1])
    assert.deepEqual(await client.call('DeleteCollection', { collection: 'c' }), { status: 'deleted', collection: 'c', deleted_count: 0 })
  })

  it('grpc: RestoreRevision brings a version back, and the temporal RPCs tell what happened', async () => {
    const { revisions: list } = await client.call<{
      readonly revisions: readonly { readonly timestamp: string; readonly content_md: string }[]
    }>('ListRevisions', ID)
    await client.call('SetCollectionConfig', { collection: 'c', track_hot: true, track_access: true })
    await client.call('Add', { ...ID, content_md: 'newer', save_revision: true })
    assert.equal(list[0]?.content_md, 'first words')
    assert.equal((await client.call('RestoreRevision', { ...ID, timestamp: list[0]?.timestamp })).key, 'k')
    const events = await client.call<{ readonly events: readonly { readonly event_type: string }[] }>('TemporalQuery', ID)
    assert.equal(
      events.events.some(({ event_type }) => event_type === 'create'),
      true,
    )
    assert.equal((await client.call('TemporalHot', { collection: 'c', top_n: 3 })).collection, 'c')
  })

  it('grpc: full text, facets, languages, spelling', async () => {
    const found = await client.call<{ readonly results: readonly Message[]; readonly facets: Message; readonly total: number }>('FTS', {
      collection: 'c', query: 'words', facet_by: ['tag'], facet_max_values: 1, boost: { 'tag:a': 2 },
    }) // prettier-ignore
    assert.deepEqual(
      [found.total, (found.results[0]?.document as Message).key, found.facets],
      [1, 'k', { tag: { buckets: [{ value: 'a', count: 1 }] } }],
    )
    assert.equal(typeof found.results[0]?.score, 'number')
    const { languages, default_lang } = await client.call<{ readonly languages: readonly Message[]; readonly default_lang: string }>(
      'FTSLanguages',
      {},
    )
    assert.deepEqual([languages.some(({ code, name }) => code === 'de' && name === 'German'), default_lang], [true, 'en'])
    assert.deepEqual(await client.call('FTSReindex', { collection: 'c' }), { status: 'ok', reindexed: 1, skipped: 0 })
    const suggested = await client.call<{ readonly token_suggestions: readonly Message[] }>('SpellSuggest', {
      collection: 'c',
      text: 'wrods',
      lang: 'en',
    })
    assert.equal(suggested.token_suggestions[0]?.original, 'wrods')
    assert.equal((await client.call('SpellCleanup', { collection: 'c', text: 'wrods', lang: 'en' })).original, 'wrods')
    assert.equal((await client.call('SearchAdvisor', { collection: 'c' })).collection, 'c')
  })

  it('grpc: vector RPCs answer, and alpha 0 counts as not given', async () => {
    const embedded = async (): Promise<number> => {
      const { collections } = await client.call<{ readonly collections: Readonly<Record<string, Message>> }>('VectorStats', {})
      return Number(collections.c?.embedded_documents ?? 0)
    }
    assert.equal((await client.call('VectorReindex', { collection: 'c', force: true })).failed, 0)
    const stats = await client.call('VectorStats', {})
    assert.deepEqual([stats.enabled, stats.index_ready, (stats.queue as Message).size], [true, true, 1000])
    await untilAsked(embedded, (count) => count >= 1)
    type Results = { readonly results: readonly Message[] }
    const nearest = await client.call<Results>('VectorSearch', { collection: 'c', query: 'words', top_k: 3, include_content: true })
    const [first] = nearest.results
    assert.deepEqual([(first?.document as Message).content_md, first?.rank], ['first words', 1])
    // 32 bits, unlike the scores of full text and hybrid searches.
    assert.equal(first?.score, Math.fround(Number(first?.score)))
    // An alpha of 0 would be full text alone.
    await client.call('Add', { ...ID, key: 'other', content_md: 'ships, harbours and other words of the sea' })
    await untilAsked(embedded, (count) => count >= 2)
    const hybrid = async (given: object): Promise<Results> =>
      await client.call<Results>('HybridSearch', { collection: 'c', query: 'words', strategy: 'alpha', ...given })
    assert.deepEqual((await hybrid({ alpha: 0 })).results, (await hybrid({})).results)
    assert.notDeepEqual((await hybrid({ alpha: 0.001 })).results, (await hybrid({})).results)
    assert.equal((await client.call('FindDuplicates', { collection: 'c', mode: 'exact' })).total_documents, 2)
    assert.equal((await client.call<Results>('Classify', { ...ID, labels: ['words', 'ships'] })).results[0]?.label, 'words')
    assert.equal((await client.call<Results>('CrossSearch', { query: 'words', target_collections: ['c'] })).results.length, 2)
    const [code] = await client.refusal('VectorSearch', { collection: 'c', query_vector: [Number.NaN] })
    assert.equal(code, status.INVALID_ARGUMENT)
  })

  it('grpc: synonyms, stop words, curation rules and schemas', async () => {
    await client.call('AddSynonym', { collection: 'c', term: 'car', synonyms: ['auto'] })
    assert.deepEqual((await client.call('ListSynonyms', { collection: 'c' })).entries, [{ term: 'car', synonyms: ['auto'] }])
    await client.call('DeleteSynonym', { collection: 'c', term: 'car' })
    assert.equal((await client.call('ListSynonyms', { collection: 'c' })).total, 0)
    assert.equal((await client.call('AddStopwords', { collection: 'c', words: ['zzz'] })).added, 1)
    assert.equal((await client.call('ListStopwords', { collection: 'c' })).custom, 1)
    assert.equal((await client.call('DeleteStopwords', { collection: 'c', words: ['zzz'] })).deleted, 1)
    const rule = {
      collection: 'c',
      query: 'words',
      match_mode: 'exact',
      pins: [{ key: 'k', lang: 'en', position: 1 }],
      hides: [],
      enabled: true,
    }
    const made = await client.call('CreateCurationRule', { rule })
    assert.equal((await client.call('UpdateCurationRule', { rule: { ...rule, id: made.id, query: 'other' } })).query, 'other')
    assert.equal((await client.call('ListCurationRules', { collection: 'c' })).total, 1)
    assert.deepEqual(await client.call('DeleteCurationRule', { id: made.id }), { status: 'deleted', id: made.id })
    await client.call('SetSchema', { collection: 'c', schema: '{"required":["tag"]}' })
    assert.deepEqual(await client.call('GetSchema', { collection: 'c' }), {
      collection: 'c',
      schema: '{"required":["tag"]}',
      enabled: true,
    })
    assert.equal(((await client.call('ListSchemas', {})).schemas as readonly Message[]).length, 1)
    const invalid = await client.call('ValidateDocument', { collection: 'c' })
    assert.deepEqual([invalid.valid, (invalid.errors as readonly string[]).length], [false, 1])
    assert.equal((await client.refusal('Add', { ...ID, content_md: 'x' }))[0], status.INVALID_ARGUMENT)
    await client.call('DeleteSchema', { collection: 'c' })
  })

  it('grpc: SetCollectionConfig changes what is given, and an omitted field never clears', async () => {
    await client.call('SetCollectionConfig', {
      collection: 'c', description: 'd', icon: 'i', max_revisions: 7, custom_meta: { a: 'b' }, spell_correct: true, response_prompt: 'p',
      retrieval: { top_k: 3, hybrid_alpha: 0.25, hybrid_alpha_set: true },
      storage_config: { endpoint: 'http://a.example', secret_key: 'secret' },
      wordpress: { url: 'http://w.example', api_key: 'hidden' },
    }) // prettier-ignore
    await client.call('SetCollectionConfig', { collection: 'c', color: '#fff', spell_correct: false, description: '', max_revisions: 0 })
    const { config, configured } = await client.call<{ readonly config: Message; readonly configured: boolean }>('GetCollectionConfig', {
      collection: 'c',
    })
    const { description, icon, color, max_revisions, custom_meta, spell_correct, response_prompt } = config
    assert.deepEqual(
      { configured, description, icon, color, max_revisions, custom_meta, spell_correct, response_prompt },
      {
        configured: true,
        description: 'd',
        icon: 'i',
        color: '#fff',
        max_revisions: 7,
        custom_meta: { a: 'b' },
        spell_correct: false,
        response_prompt: 'p',
      },
    )
    const { top_k, hybrid_alpha, hybrid_alpha_set } = config.retrieval as Message
    assert.deepEqual([top_k, hybrid_alpha, hybrid_alpha_set], [3, 0.25, true])
    assert.deepEqual([(config.storage_config as Message).secret_key, (config.storage_config as Message).secret_key_set], ['', true])
    assert.deepEqual([(config.wordpress as Message).api_key, (config.wordpress as Message).api_key_set], ['', true])
    assert.equal((await client.call('ListCollectionConfigs', {})).total, 1)
  })

  it('grpc: a backup is restored', async () => {
    const { backup } = await client.call('Backup', {})
    await client.call('DeleteCollection', { collection: 'c' })
    assert.equal((await client.call('Restore', { from: backup })).restored, backup)
    assert.equal((await client.call('Get', ID)).key, 'k')
    assert.deepEqual(await client.refusal('Restore', {}), [status.INVALID_ARGUMENT, 'missing backup filename'])
  })

  it('grpc: refusals have the code of the catalogue and the text of the contract', async () => {
    assert.deepEqual(await client.refusal('Get', { ...ID, key: 'nothing' }), [status.NOT_FOUND, 'document not found'])
    assert.deepEqual(await client.refusal('Get', {}), [status.INVALID_ARGUMENT, 'missing required fields'])
    assert.deepEqual(await client.refusal('Search', {}), [status.INVALID_ARGUMENT, 'missing collection'])
    assert.deepEqual(await client.refusal('Search', { collection: 'c', limit: -1 }), [status.INVALID_ARGUMENT, 'invalid limit'])
    assert.deepEqual(await client.refusal('GetCollectionConfig', {}), [status.INVALID_ARGUMENT, 'missing collection'])
  })

  it('grpc: RPCs of operations that the server does not have are UNIMPLEMENTED, all in one way', async () => {
    const known = new Set(operations.map(({ protocols }) => protocols.grpc))
    const missing = ['GeoSearch', 'GeoWithin', 'GeoReindex', 'GeoStats', 'GeoEncode', 'GeoDecode', 'ListAutomation', 'CreateAutomation', 'GetAutomation', 'UpdateAutomation', 'DeleteAutomation', 'TestAutomation', 'GetAutomationLogs'] // prettier-ignore
    for (const rpc of missing) {
      assert.equal(known.has(rpc), false, rpc)
      assert.deepEqual(await client.refusal(rpc, {}), [status.UNIMPLEMENTED, 'not implemented by this version of the server'], rpc)
    }
    const replication = new GrpcClient(server.addressOf('grpc'), 'MDDBReplication')
    for (const rpc of ['ReplicationStatus', 'AcknowledgeLSN']) assert.equal((await replication.refusal(rpc, {}))[0], status.UNIMPLEMENTED)
    await assert.rejects(async () => {
      for await (const _ of replication.stream('StreamBinlog', {})) assert.fail('an entry')
    }, /UNIMPLEMENTED/)
    replication.close()
  })
})
