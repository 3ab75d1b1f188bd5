/**
 * The reference page, the OpenAPI document and statistics over HTTP: forms, ETags, methods. service-2,
 * "Reference and health"; docs/decisions/interfaces/http-pages.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Server } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

let server: Server

before(async () => {
  server = await sharedServer()
})
after(() => server.stop())

describe('pages', () => {
  it('pages: the reference page and the OpenAPI document come compressed, with an ETag, and not again to who has them', async () => {
    for (const path of ['/docs', '/openapi.json']) {
      const plain = await server.get(path)
      assert.deepEqual([plain.status, plain.headers['content-encoding'], plain.headers.vary], [200, undefined, 'Accept-Encoding'])
      const brotli = await server.get(path, { 'accept-encoding': 'gzip, deflate, br' })
      assert.equal(brotli.headers['content-encoding'], 'br')
      assert.equal(brotliDecompressSync(brotli.body).toString(), plain.text)
      const gzip = await server.get(path, { 'accept-encoding': 'gzip, br;q=0' })
      assert.equal(gzip.headers['content-encoding'], 'gzip')
      assert.equal(gunzipSync(gzip.body).toString(), plain.text)
      assert.ok(brotli.body.length < gzip.body.length && gzip.body.length * 5 < plain.body.length)
      assert.equal(gzip.headers['cache-control'], 'no-cache')
      const etags = [plain, brotli, gzip].map(({ headers }) => headers.etag ?? '')
      assert.equal(new Set(etags).size, 3)
      const accepts = ['identity', 'br', 'gzip']
      for (const [at, etag] of etags.entries())
        for (const wanted of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          const again = await server.get(path, { 'accept-encoding': accepts[at] ?? '', 'if-none-match': wanted })
          const { etag: sent, vary, 'content-type': type } = again.headers
          assert.deepEqual([again.status, again.body.length, sent, vary, type], [304, 0, etag, 'Accept-Encoding', undefined], wanted)
        }
      const changed = await server.get(path, { 'if-none-match': '"other"' })
      assert.deepEqual([changed.status, changed.text], [200, plain.text])
    }
  })

  it('pages: the menu names methods, types that are nested have their tables, and there is a search', async () => {
    const { text } = await server.get('/docs')
    assert.match(text, /<a href="#add" data-find="[^"]*"><span class="method POST">POST<\/span> <span>\/v1\/add<\/span><\/a>/)
    assert.match(text, /<a href="#docMeta"[^>]*><span class="method GET">GET.*?<a href="#docMeta"[^>]*><span class="method POST">POST/s)
    const links = [...text.matchAll(/href="#type-(\w+)"/g)].map(([, name]) => name)
    assert.ok(links.includes('FtsHit') && links.includes('Highlight') && links.includes('PinInput'))
    for (const name of new Set(links)) assert.ok(text.includes(`<section id="type-${name}"`), name)
    assert.match(text, /id="type-Highlight".*?<code>startOffset<\/code>/s)
    // A nested object without a name is listed in the table of its owner.
    assert.match(text, /<code>searchStats\.durationMs<\/code>/)
    assert.match(text, /<input id="find" type="search"/)
  })

  it('stats: POST answers what GET does', async () => {
    const [got, posted] = [await server.get('/v1/stats'), await server.post('/v1/stats')]
    assert.deepEqual([posted.status, Object.keys(posted.json())], [200, Object.keys(got.json())])
    assert.equal((await server.post('/v1/stats', {})).status, 200)
  })
})
