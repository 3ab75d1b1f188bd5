/**
 * `mds import` against a peer with preset answers: which requests are repeated or halved, what is reported,
 * and what is stored for a continuation. The peer speaks the contract's add-batch; the same import against
 * the real server is in test/contract/cli/cli.test.ts.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { ImportPlan } from '../../../src/cli/import/import_run.js'
import { runImport } from '../../../src/cli/import/import_run.js'
import { openNdjson } from '../../../src/cli/import/ndjson_source.js'
import { ImportStopped } from '../../../src/cli/import/patience.js'
import { formatSeconds } from '../../../src/cli/import/progress.js'
import type { ResumeState } from '../../../src/cli/import/resume_state.js'
import { openResumeState } from '../../../src/cli/import/resume_state.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-import-'))
after(() => rmSync(folder, { recursive: true }))

interface Sent {
  readonly key: string
  readonly contentMd: string
}
type Answerer = (documents: readonly Sent[], response: ServerResponse, request: number) => void

const accept: Answerer = (documents, response) =>
  response.end(JSON.stringify({ added: documents.length, updated: 0, failed: 0, errors: [] }))
const refuse =
  (status: number, text: string): Answerer =>
  (_, response) =>
    response.writeHead(status).end(JSON.stringify({ error: text }))

/** A peer on a free port; `batches` contains the keys of each request that was answered 200. */
async function withPeer(answer: Answerer, body: (url: string, batches: readonly string[][]) => Promise<void>): Promise<void> {
  const batches: string[][] = []
  let requests = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { documents } = JSON.parse(Buffer.concat(chunks).toString()) as { documents: Sent[] }
      answer(documents, response, ++requests)
      if (response.statusCode === 200) batches.push(documents.map((document) => document.key))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, batches)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

let made = 0
function makeFile(keys: readonly string[]): string {
  const path = join(folder, `${++made}.ndjson`)
  writeFileSync(path, keys.map((key) => (key === '!' ? '{' : JSON.stringify({ key, lang: 'en', meta: {}, contentMd: key }))).join('\n'))
  return path
}

const silent = { update: () => undefined, say: () => undefined, stop: () => undefined }

async function makePlan(url: string, path: string, overrides: Partial<ImportPlan> = {}): Promise<ImportPlan & { state: ResumeState }> {
  const source = await openNdjson(path, { lang: 'en' })
  const state = openResumeState(join(folder, 'state'), { fingerprint: source.fingerprint, collection: 'c', url })
  return {
    source,
    url,
    target: { collection: 'c', keepTimes: false },
    batchDocumentsMax: 2,
    concurrency: 2,
    progress: silent,
    stored: new Map(),
    ...overrides,
    state,
  }
}

const KEYS = ['a', 'b', 'c', 'd', 'e']

describe('an import', () => {
  it('sends every document once, in batches, and counts bad lines as failed', async () => {
    await withPeer(accept, async (url, batches) => {
      const result = await runImport(await makePlan(url, makeFile(['a', 'b', '!', 'c', 'd', 'e'])))
      assert.deepEqual(batches.flat().sort(), KEYS)
      assert.deepEqual([result.added, result.updated, result.failed], [5, 0, 1])
      assert.match(result.problems[0] ?? '', /^line 3: invalid JSON/)
    })
  })

  it('repeats a batch that was answered 503 or cut off, and loses nothing', async () => {
    const flaky: Answerer = (documents, response, request) => {
      if (request === 1) response.writeHead(503, { 'retry-after': '0' }).end('{"error":"server busy, please retry"}')
      else if (request === 2) response.statusCode = 599
      if (request === 2) response.destroy()
      if (request > 2) accept(documents, response, request)
    }
    await withPeer(flaky, async (url, batches) => {
      const result = await runImport(await makePlan(url, makeFile(KEYS), { concurrency: 1 }))
      assert.deepEqual(batches, [['a', 'b'], ['c', 'd'], ['e']])
      assert.equal(result.added, 5)
    })
  })

  it('halves a batch that is refused until the document at fault stands alone', async () => {
    const picky: Answerer = (documents, response, request) =>
      documents.some((document) => document.key === 'c')
        ? refuse(413, 'request body too large')(documents, response, request)
        : accept(documents, response, request)
    await withPeer(picky, async (url, batches) => {
      const result = await runImport(await makePlan(url, makeFile(KEYS), { batchDocumentsMax: 5 }))
      assert.deepEqual(batches.flat().sort(), ['a', 'b', 'd', 'e'])
      assert.deepEqual([result.added, result.failed, result.problems], [4, 1, ['line 3: request body too large']])
    })
  })

  it("reports the server's errors per document", async () => {
    const partly: Answerer = (_, response) => response.end(JSON.stringify({ added: 0, updated: 1, failed: 1, errors: ['b: key too long'] }))
    await withPeer(partly, async (url) => {
      const result = await runImport(await makePlan(url, makeFile(['a', 'b'])))
      assert.deepEqual([result.updated, result.failed, result.problems], [1, 1, ['b: key too long']])
    })
  })

  it('stops at a refusal that concerns all, with the text of the server', async () => {
    await withPeer(refuse(403, 'read-only mode'), async (url) => {
      await assert.rejects(
        runImport(await makePlan(url, makeFile(KEYS))),
        (error) => error instanceof ImportStopped && /read-only mode/.test(error.message),
      )
    })
  })

  it('stops where the answer is not of this service', async () => {
    for (const text of ['<html>', '{}', '[]', '"ok"']) {
      await withPeer(
        (_, response) => response.end(text),
        async (url) => {
          await assert.rejects(runImport(await makePlan(url, makeFile(KEYS))), ImportStopped)
        },
      )
    }
  })

  it('keeps the order of two versions of one document, in whatever spelling', async () => {
    const open: (() => void)[] = []
    // Answers come in reverse order whenever two requests are open at once.
    const reversing: Answerer = (documents, response, request) => {
      open.push(() => accept(documents, response, request))
      setImmediate(() => open.pop()?.())
    }
    await withPeer(reversing, async (url, batches) => {
      await runImport(await makePlan(url, makeFile(['a', 'b', 'B', 'c', 'A', 'd']), { concurrency: 4 }))
      const order = batches.flat()
      assert.ok(order.indexOf('b') < order.indexOf('B'))
      assert.ok(order.indexOf('a') < order.indexOf('A'))
      assert.equal(order.length, 6)
    })
  })

  it('never has more requests open than configured', async () => {
    let open = 0
    let openMax = 0
    const counting: Answerer = (documents, response, request) => {
      openMax = Math.max(openMax, ++open)
      setImmediate(() => {
        open -= 1
        accept(documents, response, request)
      })
    }
    await withPeer(counting, async (url) => {
      await runImport(await makePlan(url, makeFile(Array.from({ length: 40 }, (_, i) => `k${i}`)), { concurrency: 3 }))
      assert.ok(openMax <= 3 && openMax > 1, `${openMax}`)
    })
  })
})

describe('an interrupted import', () => {
  it('continues behind the last batch acknowledged in order, and counts what the first run did', async () => {
    const path = makeFile(KEYS)
    const dying: Answerer = (documents, response, request) =>
      (request === 1 ? accept : refuse(403, 'read-only mode'))(documents, response, request)
    let address = ''
    await withPeer(dying, async (url) => {
      address = url
      await assert.rejects(runImport(await makePlan(url, path, { concurrency: 1 })), ImportStopped)
    })
    await withPeer(accept, async (url, batches) => {
      const state = openResumeState(join(folder, 'state'), {
        fingerprint: (await makePlan(url, path)).source.fingerprint,
        collection: 'c',
        url: address,
      })
      const plan = { ...(await makePlan(url, path)), state }
      const result = await runImport(plan)
      assert.deepEqual(batches, [['c', 'd'], ['e']])
      assert.equal(result.added, 5)
    })
  })

  it('leaves nothing behind once it is complete', async () => {
    await withPeer(accept, async (url) => {
      await runImport(await makePlan(url, makeFile(KEYS)))
      assert.equal((await makePlan(url, makeFile(KEYS))).state.point, undefined)
    })
  })

  it('a state that is damaged, of another source or impossible to write counts as absent', () => {
    const states = join(folder, 'damaged')
    const identity = { fingerprint: 'ndjson /x 1 2', collection: 'c', url: 'u' }
    const point = { position: '7', consumed: 70, added: 7, updated: 0, failed: 0, unchanged: 0 }
    openResumeState(states, identity).save(point)
    assert.deepEqual(openResumeState(states, identity).point, point)
    assert.equal(openResumeState(states, { ...identity, fingerprint: 'ndjson /x 1 3' }).point, undefined)
    const [file] = readdirSync(states)
    for (const text of ['', '{', '[]', 'null', '{"version":2}', '{"version":1,"fingerprint":"ndjson /x 1 2","position":"7","added":-1}']) {
      writeFileSync(join(states, file ?? ''), text)
      assert.equal(openResumeState(states, identity).point, undefined)
    }
    assert.notEqual(openResumeState(join(states, file ?? '', 'below-a-file'), identity).save(point), undefined)
  })
})

describe('formatSeconds', () => {
  it('reads as a person would say it', () => {
    assert.deepEqual([0.2, 59, 60, 185, 7_620].map(formatSeconds), ['1 s', '59 s', '1 min 00 s', '3 min 05 s', '2 h 07 min'])
  })
})
