/** GET /playground: the page, its policy, and GraphiQL in a real browser. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { findBrowser, Page } from '../../harness/clients/browser.js'
import { type Server, startServer } from '../../harness/server/server.js'

const browser = findBrowser()

describe('playground', () => {
  let server: Server
  before(async () => {
    server = await startServer({ env: { SVC_HTTP_LOOPS: '2' } })
    await server.post('/v1/add', { collection: 'docs', key: 'k', lang: 'en', contentMd: '# Shown' })
  })
  after(() => server.stop())

  it('playground: is one compressed page, which is revalidated', async () => {
    const packed = await server.get('/playground', { 'accept-encoding': 'gzip' })
    assert.equal(packed.status, 200)
    assert.equal(packed.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.ok(packed.body.length < 3 << 20)
    const plain = await server.get('/playground', { 'accept-encoding': 'identity' })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.ok(plain.body.equals(gunzipSync(packed.body)))
    const again = await server.get('/playground', { 'accept-encoding': 'gzip', 'if-none-match': packed.headers.etag! })
    assert.equal(again.status, 304)
  })

  it('playground: its policy admits its own script and style by their hashes, and no other origin', async () => {
    const { text, headers } = await server.get('/playground', { 'accept-encoding': 'identity' })
    const policy = new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)] as const),
    )
    const hashOf = (content: string): string => `'sha256-${createHash('sha256').update(content).digest('base64')}'`
    const scripts = [...text.matchAll(/<script>([^]*?)<\/script>/g)].map(([, content = '']) => hashOf(content))
    const styles = [...text.matchAll(/<style>([^]*?)<\/style>/g)].map(([, content = '']) => hashOf(content))
    assert.deepEqual(policy.get('default-src'), ["'none'"])
    assert.equal(scripts.length, 1)
    assert.deepEqual(policy.get('script-src'), scripts)
    assert.deepEqual(policy.get('style-src-elem'), [...styles, hashOf('')])
    assert.deepEqual(policy.get('connect-src'), ["'self'"])
    assert.deepEqual(policy.get('frame-ancestors'), ["'none'"])
    // Attributes can't load anything: the sources of images and fonts are data.
    for (const [name, sources] of policy)
      for (const source of sources)
        assert.ok(
          /^('none'|'self'|'sha256-.*'|data:|blob:)$/.test(source) || (name === 'style-src-attr' && source === "'unsafe-inline'"),
          `${name} ${source}`,
        )
  })

  it('playground: is off with SVC_GRAPHQL_PLAYGROUND=false, and GraphQL stays', async () => {
    const off = await startServer({ env: { SVC_GRAPHQL_PLAYGROUND: 'false' } })
    try {
      assert.equal((await off.get('/playground')).status, 404)
      assert.equal((await off.post('/graphql', { query: '{ __typename }' })).status, 200)
    } finally {
      await off.stop()
    }
  })

  it('playground: GraphiQL runs a query in a browser, without violations of the policy and from this server alone', async (context) => {
    if (browser === undefined) {
      context.skip('no Chromium on this machine')
      console.error('playground: NOT tested in a browser: no Chromium on this machine')
      return
    }
    const page = await Page.open(browser)
    try {
      const query = '{ document(collection: "docs", key: "k", lang: "en") { contentMd } }'
      await page.go(`${server.url}/playground?query=${encodeURIComponent(query)}`)
      const shows = (place: string, text: string): string =>
        `document.querySelector('${place}')?.innerText.replaceAll('\\u00a0', ' ').includes(${JSON.stringify(text)}) === true`
      await page.until(shows('.graphiql-query-editor .view-lines', 'document'))
      await page.until(`document.querySelector('.result-window .view-lines') !== null`)
      // The editor has asked for the schema.
      await page.until(`performance.getEntriesByName(new URL('graphql', location.href).href).length > 0`)
      await page.value(`document.querySelector('.graphiql-execute-button').click()`)
      await page.until(shows('.result-window .view-lines', '# Shown'))
      assert.deepEqual(page.reports, [])
      assert.deepEqual([...new Set(page.requested.map((url) => new URL(url).origin))], [server.url])
      // What the editor writes into style elements has an effect: its lines are monospaced and coloured.
      assert.equal(await page.value(`getComputedStyle(document.querySelector('.view-line')).position`), 'absolute')
    } finally {
      await page.close()
    }
  })
})
