/**
 * The object store client against a server that fails deliberately: which requests are retried, how often and
 * for how long, and which are refused before anything is sent.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { S3_MS_MAX } from '../../../src/limits/store.js'
import type { AllowedDestination } from '../../../src/outbound/allowlist.js'
import { parseAllowed } from '../../../src/outbound/allowlist.js'
import { S3_ATTEMPTS_MAX, S3Client, S3Error } from '../../../src/outbound/s3_client.js'
import type { S3Location } from '../../../src/outbound/s3_location.js'
import { checkLocation, objectUrl, refuseCredentials, S3LocationError } from '../../../src/outbound/s3_location.js'
import { parseErrorCode, parseListing } from '../../../src/outbound/s3_xml.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'

const LOCATION: S3Location = { endpoint: 'store.example', bucket: 'bodies', accessKey: 'access', secretKey: 'secret' }
/** Time that a busy machine may add to a time limit. */
const LATE_MS_MAX = 10_000

describe('a failing object store', () => {
  type Reply = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void
  let replies: Reply[] = []
  let asked: IncomingMessage[] = []
  let server: Server
  let client: S3Client
  before(async () => {
    server = createServer((request, response) => {
      asked.push(request)
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => (replies.shift() ?? status(200))(request, response, Buffer.concat(chunks)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const outbound = new Outbound({ allowed: [parseAllowed(endpoint) as AllowedDestination], allowPrivate: false })
    client = new S3Client(outbound, { ...LOCATION, endpoint, prefix: 'p/' })
  })
  after(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    replies = []
    asked = []
  })

  const status =
    (code: number, body = ''): Reply =>
    (_, response) =>
      void response.writeHead(code).end(body)
  const cut: Reply = (request) => void request.socket.destroy()

  it('requests are signed with their payload, by the path of the bucket', async () => {
    await client.put('a b/c', Buffer.from('payload'))
    const [{ method, url, headers } = assert.fail()] = asked
    assert.deepEqual([method, url, headers['content-length']], ['PUT', '/bodies/p/a%20b/c', '7'])
    assert.equal(headers['x-amz-content-sha256'], '239f59ed55e737c77147cf55ad0c1b030b6d7ee748a7426952f9b852d5a935e5')
    assert.match(
      headers.authorization ?? '',
      /^AWS4-HMAC-SHA256 Credential=access\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
    )
    assert.doesNotMatch(JSON.stringify(headers), /secret/)
  })

  it('a failure that may pass is asked again, a refusal is not', async () => {
    replies = [status(500), cut, status(503, '<Error><Code>SlowDown</Code></Error>'), status(200)]
    await client.put('k', Buffer.from('x'))
    assert.equal(asked.length, 4)
    for (const code of [400, 403, 404, 409, 501]) {
      asked = []
      replies = [status(code, '<Error><Code>Refused</Code></Error>')]
      await assert.rejects(client.put('k', Buffer.from('x')), (error) => error instanceof S3Error && error.status === code)
      assert.equal(asked.length, 1)
    }
  })

  it('a failure that stays is the answer after four attempts', async () => {
    replies = Array.from({ length: 9 }, () => status(503, '<Error><Code>SlowDown</Code></Error>'))
    await assert.rejects(client.get('k'), (error) => error instanceof S3Error && error.status === 503 && error.code === 'SlowDown')
    assert.equal(asked.length, S3_ATTEMPTS_MAX)
    replies = Array.from({ length: 9 }, () => cut)
    asked = []
    await assert.rejects(client.get('k'), (error) => error instanceof S3Error && error.status === 0)
    assert.equal(asked.length, S3_ATTEMPTS_MAX)
  })

  it('a store that never answers is given up within ten seconds', async () => {
    replies = Array.from({ length: 9 }, () => () => undefined)
    const begun = performance.now()
    await assert.rejects(client.get('k'), (error) => error instanceof S3Error && error.status === 0)
    const took = performance.now() - begun
    assert.ok(took < S3_MS_MAX + LATE_MS_MAX, `${took} ms`)
    assert.ok(asked.length >= 2)
  })

  it('a store that does not answer two requests gets a third one within the remaining time', async () => {
    replies = [() => undefined, () => undefined, status(200)]
    await client.put('key', Buffer.from('body'))
    assert.equal(asked.length, 3)
  })

  it('a conditional put whose first answer was lost compares the existing object', async () => {
    const refused = status(412, '<Error><Code>PreconditionFailed</Code></Error>')
    replies = [cut, refused, status(200, 'mine')]
    assert.equal(await client.putNew('k', Buffer.from('mine')), true)
    replies = [cut, refused, status(200, 'theirs')]
    assert.equal(await client.putNew('k', Buffer.from('mine')), false)
    replies = [refused]
    asked = []
    assert.equal(await client.putNew('k', Buffer.from('mine')), false)
    assert.deepEqual(asked.map(({ method, headers }) => [method, headers['if-none-match']]), [['PUT', '*']]) // prettier-ignore
  })

  it('a redirect is not followed', async () => {
    replies = [(_, response) => void response.writeHead(307, { location: '/elsewhere' }).end()]
    await assert.rejects(client.get('k'), (error) => error instanceof S3Error && error.status === 307)
    assert.equal(asked.length, 1)
  })
})

describe('locations of objects', () => {
  it('an endpoint is a host with or without port and scheme', () => {
    const urlOf = (change: Partial<S3Location>): string => objectUrl({ ...LOCATION, ...change }, 'k')
    assert.equal(urlOf({}), 'http://store.example/bodies/k')
    assert.equal(urlOf({ useTLS: true, prefix: 'p/' }), 'https://store.example/bodies/p/k')
    assert.equal(urlOf({ endpoint: 'https://store.example:9000/' }), 'https://store.example:9000/bodies/k')
    assert.equal(urlOf({ endpoint: '[::1]:9000' }), 'http://[::1]:9000/bodies/k')
    for (const endpoint of ['', ' ', 'store.example/path', 'store.example?x', 'http://', 'store example', 'store.example#x'])
      assert.throws(() => checkLocation({ ...LOCATION, endpoint }), S3LocationError, endpoint)
  })

  it('an endpoint with credentials is refused when it is configured, whatever else is invalid', () => {
    for (const endpoint of [
      'http://user:pw@store.example',
      'user:pw@store.example',
      'https://key@store.example:9000',
      'http://u:p@h:99999',
    ])
      assert.throws(() => refuseCredentials(endpoint), new S3LocationError('invalid endpoint'), endpoint)
    for (const endpoint of ['store.example', 'https://store.example:9000/', '[::1]:9000', '']) refuseCredentials(endpoint)
  })

  it('buckets, prefixes and credentials that could lead elsewhere are refused', () => {
    const wrong: Partial<S3Location>[] = [
      { bucket: '' },
      { bucket: 'UPPER' },
      { bucket: 'a' },
      { bucket: 'a/b' },
      { bucket: 'a..b' },
      { bucket: '127.0.0.1' },
      { bucket: '../x' },
      { prefix: '/x' },
      { prefix: '../' },
      { prefix: 'a//b' },
      { prefix: 'a/./b' },
      { prefix: 'a\nb' },
      { prefix: 'x'.repeat(2000) },
      { accessKey: '' },
      { secretKey: '' },
      { accessKey: 'a\r\nb' },
    ]
    for (const change of wrong) assert.throws(() => checkLocation({ ...LOCATION, ...change }), S3LocationError, JSON.stringify(change))
    assert.doesNotThrow(() => checkLocation({ ...LOCATION, prefix: 'a/b-' }))
  })

  it('keys that a URL would read as a way are refused', () => {
    for (const key of ['', '.', '..', 'a/../b', 'a//b', '/a', 'a/', 'a\0b', '\ud800', 'x'.repeat(1025)])
      assert.throws(() => objectUrl(LOCATION, key), S3LocationError, JSON.stringify(key))
  })
})

describe('documents of object stores', () => {
  it('a listing is read by its elements, whatever their order', () => {
    const xml = `<?xml version="1.0"?><ListBucketResult xmlns="x"><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><Contents><Size>3</Size><Key>a%26b+c</Key></Contents>
      <Contents><Key>d&amp;&#65;&#x42;</Key><ETag>&quot;e&quot;</ETag><Size>0</Size></Contents><NextContinuationToken>t&lt;1</NextContinuationToken></ListBucketResult>`
    assert.deepEqual(parseListing(xml), {
      objects: [
        { key: 'a&b c', bytes: 3 },
        { key: 'd&AB', bytes: 0 },
      ],
      next: 't<1',
    })
    const plain = '<ListBucketResult><Contents><Key>a%26b+c</Key><Size>3</Size></Contents></ListBucketResult>'
    assert.deepEqual(parseListing(plain), { objects: [{ key: 'a%26b+c', bytes: 3 }], next: undefined })
  })

  it('an invalid listing is an error, and an error answer without a valid code gives the empty code', () => {
    for (const xml of [
      '',
      '<html></html>',
      '<ListBucketResult><Contents><Key>a</Key><Size>x</Size></Contents></ListBucketResult>',
      '<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>',
    ])
      assert.throws(() => parseListing(xml), Error, xml)
    assert.equal(parseErrorCode('<Error><Code>NoSuchKey</Code></Error>'), 'NoSuchKey')
    for (const xml of ['', '<Code></Code>', '<Error><Code>no such</Code></Error>', '<html>404</html>'])
      assert.equal(parseErrorCode(xml), '', xml)
  })
})
