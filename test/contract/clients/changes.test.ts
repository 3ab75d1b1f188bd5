/** The change feed in the typed client: an async iterator that resumes by itself. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { MdsClient } from '../../../clients/typescript/src/index.js'
import { untilAsked } from '../../harness/process/until.js'
import { startServer } from '../../harness/server/server.js'

it('client: documents.changes gives what happens, and resumes by itself over a kill of the server', async (test) => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-client-changes-'))
  test.after(() => rmSync(directory, { recursive: true, force: true }))
  // Below the ports that the system gives to clients: one that connects again and again could get this one.
  const address = `127.0.0.1:${20_000 + (process.pid % 10_000)}`
  let own = await startServer({ directory, address })
  const watched = new MdsClient({ baseUrl: own.url })
  const abort = new AbortController()
  const seen: string[] = []
  let onSeen: () => void = () => undefined
  const reading = (async () => {
    for await (const change of watched.documents.changes({ include: 'document' }, { signal: abort.signal })) {
      assert.ok(change.event === 'doc.added' && change.document?.key === change.key)
      seen.push(change.key)
      onSeen()
    }
  })()
  const untilSeen = async (count: number): Promise<void> => {
    while (seen.length < count) await Promise.race([reading, new Promise<void>((resolve) => (onSeen = resolve))])
  }
  const write = (key: string): Promise<unknown> => watched.documents.add({ collection: 'watched', key, lang: 'en', contentMd: 'x' })
  // The stream is open once the server counts its client.
  await untilAsked(
    () => own.get('/metrics'),
    ({ text }) => /^mddb_feed_clients 1$/m.test(text),
  )
  await write('a')
  await untilSeen(1)
  for (const key of ['b', 'c']) {
    await write(key)
    await own.kill()
    own = await startServer({ directory, address })
  }
  test.after(() => own.stop())
  await write('d')
  await untilSeen(4)
  assert.deepEqual(seen, ['a', 'b', 'c', 'd'])
  abort.abort(new Error('enough'))
  await assert.rejects(reading, /enough/)
  await assert.rejects(watched.documents.changes({ events: 'none' }).next(), /invalid event/)
})
