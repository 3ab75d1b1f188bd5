/**
 * The object store client against a real S3-compatible server, which checks signatures and preconditions.
 * service-2, "Storage backends"; security.md, "SSRF": endpoints set by clients go through the guard.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AllowedDestination } from '../../../src/outbound/allowlist.js'
import { parseAllowed } from '../../../src/outbound/allowlist.js'
import { OutboundRefused } from '../../../src/outbound/destination.js'
import { S3_LISTED_MAX, S3Client, S3Error } from '../../../src/outbound/s3_client.js'
import type { S3Location } from '../../../src/outbound/s3_location.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'
import { ACCESS_KEY, noObjectStore, ObjectStore, REGION, SECRET_KEY } from '../../harness/store/object_store.js'

describe('a client of object stores', { skip: noObjectStore }, () => {
  let store: ObjectStore
  let outbound: Outbound
  const clients: S3Client[] = []
  before(async () => {
    store = await ObjectStore.start('bodies', 'others')
    outbound = new Outbound({ allowed: [parseAllowed(store.endpoint) as AllowedDestination], allowPrivate: false })
  })
  after(async () => {
    for (const client of clients) await client.close()
    await store.stop()
  })

  const open = (change: Partial<S3Location> = {}): S3Client => {
    const location = { endpoint: store.endpoint, bucket: 'bodies', region: REGION, accessKey: ACCESS_KEY, secretKey: SECRET_KEY, ...change }
    const client = new S3Client(outbound, location)
    clients.push(client)
    return client
  }
  const refusedWith = (status: number, code: string) => (error: unknown) =>
    error instanceof S3Error && error.status === status && error.code === code && !error.message.includes(SECRET_KEY)

  it('object store: a stored object is read back byte for byte, at any size and with keys of any letters', async () => {
    const client = open({ prefix: 'mds/bodies-' })
    const keys = ['plain', 'with/many/parts', 'ä ö+ü&=?#%', "quote'(1)*!~", '日本語', '..a/b..', `${'k'.repeat(200)}/${'l'.repeat(200)}`]
    for (const [i, key] of keys.entries()) {
      const body = Buffer.from(`body of ${key} ${'x'.repeat(i * 100)}`)
      await client.put(key, body)
      assert.deepEqual(await client.get(key), body, key)
      assert.equal(await client.head(key), body.length, key)
    }
    for (const bytes of [0, 1, 65_536, 5_000_000]) {
      const body = Buffer.alloc(bytes, 'abcdefg')
      await client.put('sized', body)
      assert.ok((await client.get('sized'))?.equals(body))
      assert.equal(await client.head('sized'), bytes)
    }
  })

  it('object store: an object that is not there is undefined, and deleting it does no harm', async () => {
    const client = open()
    assert.deepEqual([await client.get('none'), await client.head('none')], [undefined, undefined])
    await client.delete('none')
    await client.put('once', Buffer.from('x'))
    await client.delete('once')
    await client.delete('once')
    assert.equal(await client.get('once'), undefined)
  })

  it('object store: a conditional put stores a new object and leaves an existing one unchanged', async () => {
    const client = open()
    assert.equal(await client.putNew('new', Buffer.from('first')), true)
    assert.equal(await client.putNew('new', Buffer.from('second')), false)
    assert.equal((await client.get('new'))?.toString(), 'first')
    const racing = await Promise.all(Array.from({ length: 8 }, (_, i) => client.putNew('raced', Buffer.from(`racer ${i}`))))
    assert.equal(racing.filter(Boolean).length, 1)
    assert.equal((await client.get('raced'))?.toString(), `racer ${racing.indexOf(true)}`)
  })

  it('object store: a listing has every key below the prefix, in order, page after page', async () => {
    const client = open({ bucket: 'others', prefix: 'listed/' })
    const beside = open({ bucket: 'others', prefix: 'beside/' })
    const keys = ['a&b', 'a b', 'a+b', 'a/1', 'a/2', 'b<c>', 'b%20c', 'ä']
    await beside.put('x', Buffer.from('x'))
    for (const key of keys) await client.put(key, Buffer.from(key))
    const found: string[] = []
    let next: string | undefined
    let pages = 0
    do {
      const page = await client.list('', next, 3)
      assert.ok(page.objects.length <= 3)
      for (const { key, bytes } of page.objects) {
        assert.equal(bytes, Buffer.byteLength(key))
        found.push(key)
      }
      next = page.next
      pages++
    } while (next !== undefined)
    assert.deepEqual(
      found,
      [...keys].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
    )
    assert.ok(pages >= 3)
    assert.deepEqual((await client.list('a/')).objects.map(({ key }) => key), ['a/1', 'a/2']) // prettier-ignore
    assert.deepEqual(await client.list('zz', undefined, S3_LISTED_MAX), { objects: [], next: undefined })
  })

  it('object store: wrong credentials, region and bucket are refused by the store, and the refusal says so without the secret', async () => {
    const body = Buffer.from('x')
    await assert.rejects(open({ secretKey: 'wrong' }).put('k', body), refusedWith(403, 'SignatureDoesNotMatch'))
    const nobody = open({ accessKey: 'nobody' })
    for (const ask of ['get', 'head', 'delete'] as const) await assert.rejects(nobody[ask]('k'), S3Error, ask)
    await assert.rejects(open({ bucket: 'no-such-bucket' }).put('k', body), refusedWith(404, 'NoSuchBucket'))
    await assert.rejects(open({ bucket: 'no-such-bucket' }).get('k'), refusedWith(404, 'NoSuchBucket'))
    await assert.rejects(open({ bucket: 'no-such-bucket' }).head('k'), refusedWith(404, 'NoSuchBucket'))
    await assert.rejects(open({ bucket: 'no-such-bucket' }).list(''), refusedWith(404, 'NoSuchBucket'))
    await assert.rejects(open({ region: 'mars-1' }).put('k', body), S3Error)
  })

  it('object store: a store that may not be asked is not asked', async () => {
    const strict = new S3Client(new Outbound({ allowed: [], allowPrivate: false }), {
      endpoint: store.endpoint,
      bucket: 'bodies',
      accessKey: ACCESS_KEY,
      secretKey: SECRET_KEY,
    })
    clients.push(strict)
    await assert.rejects(strict.put('k', Buffer.from('x')), OutboundRefused)
  })

  it('object store: many requests share few connections and all come back', async () => {
    const client = open({ prefix: 'many/' })
    const numbers = Array.from({ length: 300 }, (_, i) => i)
    await Promise.all(numbers.map((i) => client.put(String(i), Buffer.from(`body ${i}`))))
    const bodies = await Promise.all(numbers.map((i) => client.get(String(i))))
    assert.deepEqual(bodies.map(String), numbers.map((i) => `body ${i}`)) // prettier-ignore
  })

  it('object store: requests wait for a killed store to return, and acknowledged objects are there', async () => {
    const client = open({ prefix: 'killed/' })
    const acknowledged: string[] = []
    const writes = (async () => {
      for (let i = 0; i < 60; i++) {
        await client.put(String(i), Buffer.from(`body ${i}`)).then(
          () => acknowledged.push(String(i)),
          (error: unknown) => assert.ok(error instanceof S3Error && error.status === 0, String(error)),
        )
      }
    })()
    for (let round = 0; round < 5; round++) {
      await store.kill()
      await store.resume()
    }
    await writes
    assert.ok(acknowledged.length > 0)
    for (const key of acknowledged) assert.equal((await client.get(key))?.toString(), `body ${key}`)
  })
})
