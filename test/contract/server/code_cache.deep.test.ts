/** Starts for which V8 has no code cache of the programs (scripts/lib/code_cache.mjs). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startServer } from '../../harness/server/server.js'

const DOCUMENT = { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' }

/** Another heap is another set of flags, whose caches V8 refuses. */
for (const flag of ['--max-old-space-size=600', '--enable-source-maps']) {
  it(`code cache: a start with ${flag} serves without it`, async () => {
    const server = await startServer({ nodeArgs: [flag] })
    assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
    assert.equal((await server.post('/v1/search', { collection: 'c', query: 'text' })).status, 200)
    assert.equal(await server.stop(), 0, server.output())
  })
}
