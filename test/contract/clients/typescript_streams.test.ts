/** Streams of the typed client: exports of any length in bounded memory, at the pace of the reader. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MdsClient, MdsError, MdsTimeoutError } from '../../../clients/typescript/src/index.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const DOCUMENTS = 10_000
const TEXT = `${'a text of some length, with ünïcode and "quotes"\n'.repeat(80)}`
const MEMORY_BYTES_MAX = 16 * 1024 * 1024
const collection = 'large'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

let server: Server
let client: MdsClient

before(async () => {
  server = await startServer()
  client = new MdsClient({ baseUrl: server.url })
  for (let first = 0; first < DOCUMENTS; first += 1000) {
    const documents = Array.from({ length: 1000 }, (_, at) => ({ key: `k${first + at}`, lang: 'en', contentMd: TEXT, saveRevision: false }))
    await client.documents.addBatch({ collection, documents }, { timeoutMs: 0 })
  }
})
after(() => server.stop())

/** A client of a peer that answers every export with what `answer` writes, until the test has ended. */
async function clientOfPeer(t: TestContext, answer: (write: (text: string) => boolean, end: () => void, isClosed: () => boolean) => void) {
  const peer = createServer((_, response) => {
    let isClosed = false
    response.on('close', () => (isClosed = true))
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
    answer(
      (text) => response.write(text),
      () => response.destroy(),
      () => isClosed,
    )
  }).listen(0, '127.0.0.1')
  await once(peer, 'listening')
  t.after(() => {
    peer.closeAllConnections()
    peer.close()
  })
  return new MdsClient({ baseUrl: `http://127.0.0.1:${(peer.address() as AddressInfo).port}` })
}

describe('client: streams', () => {
  it('client: 10 000 documents are exported one by one, in bounded memory', async () => {
    collect()
    const begin = process.memoryUsage().heapUsed
    const keys = new Set<string>()
    let most = 0
    for await (const document of client.documents.export({ collection })) {
      keys.add(document.key)
      if (document.contentMd !== TEXT) assert.fail('another text')
      if (keys.size % 2500 !== 0) continue
      collect()
      most = Math.max(most, process.memoryUsage().heapUsed - begin)
    }
    assert.equal(keys.size, DOCUMENTS)
    assert.ok(most < MEMORY_BYTES_MAX, `${most} bytes beside ${DOCUMENTS * TEXT.length} bytes of texts`)
  })

  it('client: a reader that stops makes the server stop', async (t) => {
    let written = 0
    let isClosed = (): boolean => false
    const peer = await clientOfPeer(t, (write, _, isPeerClosed) => {
      isClosed = isPeerClosed
      const more = (): void => {
        if (isPeerClosed()) return
        written += 1
        write(`{"key":"k${written}"}\n`)
        setImmediate(more)
      }
      more()
    })
    for await (const { key } of peer.documents.export({ collection: 'c' })) if (key === 'k3') break
    await untilAsked(async () => isClosed(), Boolean)
  })

  it('client: what the reader has not asked for is not read', async () => {
    let given = 0
    const counted: typeof fetch = async () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            given += 1
            controller.enqueue(new TextEncoder().encode(`{"key":"a${given}"}\n{"key":"b${given}"}\n`))
          },
        }),
      )
    const documents = client.with({ fetch: counted }).documents.export({ collection })
    for (const expected of ['a1', 'b1', 'a2', 'b2']) {
      const { value } = await documents.next()
      assert.equal(value?.key, expected)
      // One piece may wait in the queue of the stream itself.
      assert.ok(given <= Number(expected.slice(1)) + 1, `${given} pieces are read at ${expected}`)
    }
    await documents.return()
  })

  it('client: lines are put together from pieces of any size, letters cut in two included', async () => {
    const bytes = Buffer.from('{"key":"ä"}\n\n{"key":"€𝄞"}\n{"key":"last"}')
    const pieces: typeof fetch = async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
            controller.close()
          },
        }),
      )
    const keys: string[] = []
    for await (const { key } of client.with({ fetch: pieces }).documents.export({ collection })) keys.push(key)
    assert.deepEqual(keys, ['ä', '€𝄞', 'last'])
  })

  it('client: an export that breaks off is an error, never a shorter list', async (t) => {
    const peer = await clientOfPeer(t, (write, end) => {
      write('{"key":"a"}\n{"key":')
      setImmediate(end)
    })
    const keys: string[] = []
    const reading = async (): Promise<void> => {
      for await (const { key } of peer.documents.export({ collection: 'c' })) keys.push(key)
    }
    await assert.rejects(reading(), (error) => error instanceof MdsError)
    assert.deepEqual(keys, ['a'])
  })

  it('client: timeoutMs bounds each wait for bytes of a stream, not the work between', async (t) => {
    let write: (text: string) => boolean = () => assert.fail('not asked yet')
    const peer = await clientOfPeer(t, (writePart) => {
      write = writePart
      write('{"key":"a"}\n')
    })
    const documents = peer.documents.export({ collection: 'c' }, { timeoutMs: 200 })
    assert.equal((await documents.next()).value?.key, 'a')
    // The reader works for longer than the limit.
    await new Promise((resolve) => setTimeout(resolve, 300))
    write('{"key":"b"}\n')
    assert.equal((await documents.next()).value?.key, 'b')
    await assert.rejects(documents.next(), MdsTimeoutError)
  })

  it('client: a signal ends a stream with its reason, of documents and of an archive', async (t) => {
    const peer = await clientOfPeer(t, (write) => write('{"key":"a"}\n'))
    const controller = new AbortController()
    const documents = peer.documents.export({ collection: 'c' }, { signal: controller.signal })
    await documents.next()
    const archive = (await peer.documents.exportArchive({ collection: 'c' }, { signal: controller.signal })).getReader()
    await archive.read()
    const ends = [documents.next(), archive.read()]
    controller.abort(new Error('enough'))
    for (const end of ends) await assert.rejects(end, /enough/)
  })

  it('client: an export that is refused is an error before the first document', async () => {
    const documents = new MdsClient({ baseUrl: server.url }).documents.export({ collection: '' })
    await assert.rejects(documents.next(), (error) => error instanceof MdsError && error.status === 400)
  })
})
