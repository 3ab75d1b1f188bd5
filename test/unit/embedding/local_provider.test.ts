/**
 * The provider `local` with the model `static`: its separate thread, tasks in turn, queries first, an end at
 * any time.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { LocalProvider } from '../../../src/background/embedding/local_provider.js'
import { loadStaticModel } from '../../../src/engine/models/static_model.js'
import { EMBEDDING_CALLS_WAITING_MAX } from '../../../src/limits/embedding.js'
import { EmbeddingError } from '../../../src/outbound/embedding/provider.js'

const SETTINGS = { provider: 'local', model: 'static', dimensions: 256, apiKey: '', apiUrl: '' } as const
const NEVER = new AbortController().signal
const provider = new LocalProvider(SETTINGS)
after(() => provider.close())

const isUnavailable = (error: unknown): boolean => error instanceof EmbeddingError && error.kind === 'unavailable'

describe('local provider', () => {
  it('local provider: its vectors are those of the model, in the order of the texts, for both roles', async () => {
    const texts = ['first text', 'der zweite', 'третий', '']
    const expected = loadStaticModel().embed(texts)
    assert.deepEqual(await provider.embed(texts, 'document', NEVER), expected)
    assert.deepEqual(await provider.embed(texts, 'query', NEVER), expected)
    assert.equal(provider.dimensions, 256)
    assert.equal(provider.variant, 'local/static/256/r1')
  })

  it('local provider: a query goes before documents that wait', async () => {
    const order: string[] = []
    const calls = ['document', 'document', 'document', 'query'] as const
    await Promise.all(calls.map((role, index) => provider.embed([`text ${index}`], role, NEVER).then(() => order.push(`${role} ${index}`))))
    assert.deepEqual(order, ['document 0', 'query 3', 'document 1', 'document 2'])
  })

  it('local provider: an aborted call is refused at once, and the next is served', async () => {
    const aborted = new AbortController()
    const calls = Promise.allSettled([0, 1, 2].map((index) => provider.embed([`text ${index}`], 'document', aborted.signal)))
    aborted.abort()
    for (const call of await calls) assert.ok(call.status === 'rejected' && isUnavailable(call.reason))
    await assert.rejects(provider.embed(['text'], 'query', aborted.signal), isUnavailable)
    assert.equal((await provider.embed(['text'], 'document', NEVER)).length, 256)
  })

  it('local provider: calls beyond the bound are refused, those within it are answered', async () => {
    const calls = Array.from({ length: EMBEDDING_CALLS_WAITING_MAX + 2 }, () => provider.embed(['text'], 'document', NEVER))
    await assert.rejects(calls.pop() ?? Promise.resolve(), isUnavailable)
    for (const vectors of await Promise.all(calls)) assert.equal(vectors.length, 256)
  })

  it('local provider: its end refuses what waits and what comes', async () => {
    const ended = new LocalProvider(SETTINGS)
    const calls = Promise.allSettled([0, 1, 2].map((index) => ended.embed([`text ${index}`], 'document', NEVER)))
    await ended.close()
    for (const call of await calls) assert.ok(call.status === 'rejected' && isUnavailable(call.reason))
    await assert.rejects(ended.embed(['text'], 'query', NEVER), isUnavailable)
    await ended.close()
  })
})
