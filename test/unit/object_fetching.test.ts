/** What a pass over the index asks object stores for: a place that fails is asked no more, what is lost is told from what is away, and one place does not stand for another. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, it } from 'node:test'
import { hashOfObject, newObjectId } from '../../src/store/objects.js'
import type { BodyObject } from '../../src/store/objects.js'
import { ObjectFetching } from '../../src/worker/background/object_fetching.js'

const BYTES = Buffer.from('a body')
const PLACES = ['failing', 'whole'] as const

const asked = { failing: 0, whole: 0 }
let server: Server
before(async () => {
  server = createServer(({ url = '' }, response) => {
    const isFailing = url.startsWith('/failing/')
    asked[isFailing ? 'failing' : 'whole']++
    if (isFailing) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
    else if (gone.has(url.slice(-32))) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
    else response.end(BYTES)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => server.close())

const gone = new Set<string>()
const objectAt = (location: number): BodyObject => ({
  location,
  id: newObjectId(),
  instance: Buffer.alloc(8, 1),
  bytes: BYTES.length,
  keyId: 0,
  hash: hashOfObject(BYTES),
})

function fetchingOf(): { readonly fetching: ObjectFetching; readonly held: Set<string> } {
  const held = new Set<string>()
  const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const locations = new Map(
    PLACES.map((bucket, at) => [at + 1, { endpoint, bucket, region: 'eu', accessKey: '', secretKey: '', useTLS: false }]),
  )
  const context = {
    config: { outboundAllowlist: [], outboundAllowPrivate: true },
    store: { read: (run: (view: unknown) => unknown) => run({}) },
    settings: { locations: () => locations },
    held: { has: (id: Buffer) => held.has(id.toString('hex')), cache: (id: Buffer) => held.add(id.toString('hex')) },
  }
  return { fetching: new ObjectFetching(context as never), held }
}

it('a place that fails is asked for nothing more in the same pass, and another place goes on', async () => {
  const { fetching, held } = fetchingOf()
  const whole = objectAt(2)
  assert.equal(await fetching.obtain([...Array.from({ length: 64 }, () => objectAt(1)), whole]), true)
  assert.ok(held.has(whole.id.toString('hex')))
  const before = asked.failing
  assert.ok(before > 0 && before < 64, `${before} requests`)
  assert.equal(await fetching.obtain([objectAt(1)]), false)
  assert.equal(asked.failing, before)
  assert.equal(await fetching.obtain([objectAt(1), objectAt(2)]), true)
  assert.equal(fetching.lost.size, 0)
  await fetching.close()
})

it('an object that is not there is lost and the rest of its place is fetched; it is asked for once', async () => {
  const { fetching, held } = fetchingOf()
  const [lost, whole] = [objectAt(2), objectAt(2)]
  gone.add(lost.id.toString('hex'))
  assert.equal(await fetching.obtain([lost, whole]), true)
  assert.deepEqual([...fetching.lost.keys()], [lost.id.toString('hex')])
  assert.ok(held.has(whole.id.toString('hex')))
  const before = asked.whole
  assert.equal(await fetching.obtain([lost]), false)
  assert.equal(asked.whole, before)
  await fetching.close()
})
