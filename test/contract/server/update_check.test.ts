/**
 * The check for updates: asked only where the operator has set an address. http.md, section 1: /health
 * `update`.
 */
import assert from 'node:assert/strict'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { isNewer } from '../../../src/background/update_check.js'
import { BUILD_VERSION } from '../../../src/base/version.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

describe('update check', () => {
  let releases: HttpServer
  let answer: { status: number; body: string } = { status: 200, body: '{}' }
  let asked: { url: string; headers: string }[] = []
  let base = ''

  before(async () => {
    releases = createServer((request, response) => {
      asked.push({ url: request.url ?? '', headers: JSON.stringify(request.headers) })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
    await new Promise<void>((resolve) => releases.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(releases.address() as AddressInfo).port}`
  })
  after(() => releases.close())

  async function served(env: Record<string, string>, until: (server: Server) => Promise<boolean>): Promise<Record<string, unknown>> {
    asked = []
    const server = await startServer({ env })
    try {
      await untilAsked(
        () => until(server),
        (isSeen) => isSeen,
      )
      return (await server.get('/health')).json()
    } finally {
      await server.stop()
    }
  }

  const hasUpdate = async (server: Server): Promise<boolean> => 'update' in (await server.get('/health')).json()

  it('update check: a newer version is shown in /health and logged once, and the question says nothing of the server', async () => {
    answer = { status: 200, body: JSON.stringify({ version: '99.1.0', url: 'https://releases.example/99.1.0' }) }
    let output = ''
    const { update } = await served({ SVC_UPDATE_URL: `${base}/latest` }, async (server) => {
      output = server.output()
      return (await hasUpdate(server)) && output.includes('99.1.0')
    })
    const { checkedAt, ...shown } = update as { checkedAt: number }
    assert.deepEqual(shown, { current: BUILD_VERSION, latest: '99.1.0', available: true, url: 'https://releases.example/99.1.0' })
    assert.ok(Math.abs(checkedAt - Date.now() / 1000) < 60)
    assert.equal(output.split('99.1.0 is available').length, 2, output)
    assert.deepEqual(asked.map(({ url }) => url), ['/latest']) // prettier-ignore
    assert.ok(!asked[0]?.headers.includes(BUILD_VERSION))
  })

  it('update check: a release as hosts of repositories describe it is understood, and the present version is not newer', async () => {
    answer = { status: 200, body: JSON.stringify({ tag_name: `v${BUILD_VERSION}`, html_url: 'javascript:alert(1)' }) }
    const { update } = await served({ SVC_UPDATE_URL: base }, hasUpdate)
    const { checkedAt, ...shown } = update as { checkedAt: number }
    assert.deepEqual(shown, { current: BUILD_VERSION, latest: BUILD_VERSION, available: false })
    assert.ok(checkedAt > 0)
  })

  it('update check: nothing is asked without SVC_UPDATE_URL, or with SVC_UPDATE_CHECK=0', async () => {
    const isReady = async (server: Server): Promise<boolean> => (await server.get('/readyz')).status === 200
    let output = ''
    const health = await served({ SVC_UPDATE_CHECK: '1' }, async (server) => {
      const isServed = await isReady(server)
      output = server.output()
      return isServed
    })
    assert.ok(!('update' in health))
    assert.doesNotMatch(output, /newest version/, 'not even an attempt')
    assert.ok(!('update' in (await served({ SVC_UPDATE_URL: base, SVC_UPDATE_CHECK: '0' }, isReady))))
    assert.deepEqual(asked, [])
  })

  it('update check: an answer that names no version is logged and changes nothing', async () => {
    for (const [status, body, reason] of [
      [500, '{}', 'answered 500'],
      [200, '<html>', 'answered no JSON'],
      [200, '{"version":"newest"}', 'answered no version'],
    ] as const) {
      answer = { status, body }
      const health = await served({ SVC_UPDATE_URL: base }, (server) => Promise.resolve(server.output().includes(reason)))
      assert.deepEqual([health.status, 'update' in health], ['healthy', false], reason)
    }
  })

  it('update check: versions are compared by numbers', () => {
    const newer = [
      ['0.10.0', '0.9.9'],
      ['1.0.0', '0.99.99'],
      ['0.1.0.1', '0.1.0'],
      ['1.0.0', '1.0.0-rc.1'],
    ] as const
    for (const [one, other] of newer) {
      assert.ok(isNewer(one, other), `${one} ${other}`)
      assert.ok(!isNewer(other, one), `${other} ${one}`)
    }
    assert.ok(!isNewer('1.2', '1.2.0'))
  })
})
