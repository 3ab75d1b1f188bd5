/**
 * Fetches of an index pass from object stores: a failing location is not asked again, lost objects are
 * distinguished from unavailable ones, and locations are independent of each other.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, it } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { ObjectStores } from '../../../src/outbound/object_stores.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'
import type { BodyObject } from '../../../src/store/objects.js'
import { hashOfObject, newObjectId } from '../../../src/store/objects.js'
import { EnvelopeBlocks } from '../../../src/wire/envelope_blocks.js'
import type { LaneOrder } from '../../../src/wire/messages/lane_messages.js'
import type { FetchObjects, ObjectsWanted, WantedObject } from '../../../src/wire/messages/object_messages.js'
import { ObjectFetching } from '../../../src/worker/background/object_fetching.js'
import { LanePort } from '../../../src/worker/lane/lane_port.js'

const BYTES = Buffer.from('a body')
const BUCKETS = ['failing', 'whole'] as const

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

const stores: ObjectStores[] = []
after(() => Promise.all(stores.map((each) => each.close())))

/** Fetches as the front end does. */
function fetchingOf(fetchObjects?: FetchObjects): { readonly fetching: ObjectFetching; readonly held: Set<string> } {
  const held = new Set<string>()
  const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const locations = new Map(
    BUCKETS.map((bucket, at) => [at + 1, { endpoint, bucket, region: 'eu', accessKey: '', secretKey: '', useTLS: false }]),
  )
  const frontEnd = new ObjectStores(new Outbound({ allowed: [], allowPrivate: true }), {
    has: (id) => held.has(Buffer.from(id).toString('hex')),
    cache: (id) => void held.add(Buffer.from(id).toString('hex')),
  })
  stores.push(frontEnd)
  const context = {
    store: { read: (run: (view: unknown) => unknown) => run({}) },
    settings: { locations: () => locations },
    // Locations are copies there, as after a message.
    fetchObjects: fetchObjects ?? ((objects: readonly WantedObject[]) => frontEnd.bringEach(structuredClone(objects))),
  }
  return { fetching: new ObjectFetching(context as never), held }
}

it('a location that fails is not asked again in the same pass, and other locations go on', async () => {
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
})

it('a missing object is lost, the other objects of its location are fetched, and it is requested once', async () => {
  const { fetching, held } = fetchingOf()
  const [lost, whole] = [objectAt(2), objectAt(2)]
  gone.add(lost.id.toString('hex'))
  assert.equal(await fetching.obtain([lost, whole]), true)
  assert.deepEqual([...fetching.lost.keys()], [lost.id.toString('hex')])
  assert.ok(held.has(whole.id.toString('hex')))
  const before = asked.whole
  assert.equal(await fetching.obtain([lost]), false)
  assert.equal(asked.whole, before)
})

it('a pass that ends waits for no answer of the front end', async () => {
  const end = new AbortController()
  const { fetching } = fetchingOf(() => new Promise(() => undefined))
  const obtained = fetching.obtain([objectAt(1)], end.signal)
  end.abort()
  assert.equal(await obtained, false)
  assert.equal(await fetching.obtain([objectAt(1)], end.signal), false)
})

it('a lane asks the front end by its number, ten passes at once, and each gets its own answer', async () => {
  const { port1, port2 } = new MessageChannel()
  const port = new LanePort(port1, EnvelopeBlocks.create(1))
  const asked: ObjectsWanted[] = []
  port2.on('message', (message: ObjectsWanted) => {
    asked.push(message)
    if (asked.length < 10) return
    for (const { number, objects } of asked.toReversed())
      port2.postMessage({ kind: 'fetched', number, failures: [{ id: objects[0]!.id, isLost: true, reason: String(number) }] })
  })
  const ids = Array.from({ length: 10 }, () => newObjectId())
  const answers = await Promise.all(ids.map((id) => port.fetchObjects([{ id, key: 'k', location: undefined, hash: new Uint8Array(0) }])))
  assert.deepEqual(answers.map(([failure]) => Buffer.from(failure!.id).toString('hex')), ids.map((id) => id.toString('hex'))) // prettier-ignore
  const orders: LaneOrder[] = []
  const order: LaneOrder = { number: 1, kind: 'drop', generation: 'g' }
  port2.postMessage(order)
  await new Promise<void>((resolve) => {
    port1.on('message', () => resolve())
  })
  port.onOrder((each) => void orders.push(each))
  assert.deepEqual(orders, [order])
  port1.close()
})
