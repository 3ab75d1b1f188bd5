/**
 * Attacks the promise of the change feed: a thousand clients resume over kills of the server, and each has
 * every change once, in order. Writers go on meanwhile; whether a write without an answer was made, the feed
 * says to all clients alike.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { EventSource } from '../../harness/clients/event_source.js'
import { type Server, startServer } from '../../harness/server/server.js'

const CLIENTS = 1_000
const KILLS = 3
/** Writes that are answered between two kills. */
const WRITES = 40
const ENV = { SVC_SSE_MAX_CLIENTS: '2000', SVC_SSE_MAX_PER_IP: '2000', SVC_MAX_CONN_IP: '5000', SVC_HTTP_LOOPS: '2' }

/** A client that resumes, as a browser does. */
class Resuming {
  readonly keys: string[] = []
  lastId = ''
  resumed = -1
  #source: EventSource | undefined
  #isDone = false

  constructor(
    readonly url: string,
    readonly query: string,
  ) {
    void this.#run()
  }

  stop(): void {
    this.#isDone = true
    this.#source?.close()
  }

  async #run(): Promise<void> {
    while (!this.#isDone) {
      const source = new EventSource(this.url + this.query, this.lastId === '' ? {} : { 'last-event-id': this.lastId })
      this.#source = source
      await source.until(() => source.lastId !== '').catch(() => undefined)
      if (source.status === 200) this.resumed++
      await source.ended()
      for (const { event, data } of source.events) this.keys.push(event === 'reset' ? 'reset' : String(data['key']))
      if (source.lastId !== '') this.lastId = source.lastId
      // Not all at once, as `retry` has it.
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200))
    }
  }
}

it('change feed: a thousand clients over kills of the server have every change once and in order', async (test) => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-feed-kills-'))
  // Below the ports that the system gives to clients: one that connects again and again could get this one.
  const address = `127.0.0.1:${20_000 + (process.pid % 10_000)}`
  let server: Server = await startServer({ directory, address, env: ENV })
  const clients = Array.from({ length: CLIENTS }, (_, at) => new Resuming(`http://${address}/v1/events`, at % 10 === 0 ? '?collection=killed&include=document' : '?collection=killed')) // prettier-ignore
  test.after(async () => {
    for (const client of clients) client.stop()
    await server.kill()
    rmSync(directory, { recursive: true, force: true })
  })
  const connected = async (): Promise<void> => {
    for (let count = 0; count < CLIENTS;) count = Number(/^mddb_feed_clients (\d+)$/m.exec((await server.get('/metrics')).text)?.[1])
  }
  const acknowledged: string[] = []
  let written = 0
  const write = async (): Promise<void> => {
    const key = `k${written++}`
    const answer = await server.post('/v1/add', { collection: 'killed', key, lang: 'en', contentMd: 'x' }).catch(() => undefined)
    if (answer?.status === 200) acknowledged.push(key)
  }
  await connected()
  for (let kill = 0; kill < KILLS; kill++) {
    for (let at = 0; at < WRITES; at++) await write()
    const last = Promise.all(Array.from({ length: 8 }, write))
    await server.kill()
    await last
    server = await startServer({ directory, address, env: ENV })
    for (let at = 0; at < WRITES; at++) await write()
    await connected()
  }
  // What is in the binlog, as a client that comes last reads it.
  const all = await new EventSource(`http://${address}/v1/events?collection=killed&since=0`).opened()
  await write()
  await all.until(() => all.events.at(-1)?.data['key'] === `k${written - 1}`)
  const truth = all.events.map(({ data }) => String(data['key']))
  assert.deepEqual(
    acknowledged.filter((key) => !truth.includes(key)),
    [],
  )
  const lastId = all.lastId
  all.close()
  // They end in order, so that all has come.
  await server.stop()
  for (const client of clients) while (client.lastId !== lastId) await new Promise((resolve) => setTimeout(resolve, 20))
  for (const client of clients) {
    assert.deepEqual(client.keys, truth)
    assert.ok(client.resumed >= KILLS)
  }
})
