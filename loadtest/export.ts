/**
 * Export from the whole server: how much memory does a large collection take, and how fast is it exported
 * from a warm cache, as NDJSON and as ZIP? Documents: 5 KB of words, seeded, 100 000 by default; the client
 * reads and counts. Resident memory is sampled during the second export of each format. Its rise is relative
 * to the moment before, when the first export has warmed the cache and the heap.
 *
 *   npm run loadtest -- export [--documents 100000] [--seed 7]
 */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { parseArgs } from 'node:util'
import { randomSource } from '../bench/measure/random_source.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const { values } = parseArgs({ options: { documents: { type: 'string', default: '100000' }, seed: { type: 'string', default: '7' } } })
const documents = Number(values.documents)
const random = randomSource(Number(values.seed))
const BATCH = 1000
const WORDS = Array.from({ length: 5000 }, () => Math.floor(random() * 36 ** 6).toString(36))
const MB = 1e6

function text(): string {
  let content = ''
  while (content.length < 5000) content += `${WORDS[Math.floor(random() * random() * WORDS.length)]} `
  return content
}

async function fill(server: Server): Promise<void> {
  for (let at = 0; at < documents; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, documents - at) }, (_, number) => ({
      key: `doc-${at + number}`,
      lang: 'en',
      contentMd: text(),
      meta: { group: [String(at % 7)] },
    }))
    const answer = await server.post('/v1/add-batch', { collection: 'load', documents: batch })
    if (answer.status !== 200) throw new Error(answer.text)
  }
}

/** Resident memory of the process; `own` excludes pages of mapped files, which the system can reclaim. */
function residentBytes(pid: number): { readonly all: number; readonly own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
  return { all: of('VmRSS'), own: of('RssAnon') + of('RssShmem') }
}

async function exportOnce(server: Server, format: string): Promise<{ readonly bytes: number; readonly seconds: number }> {
  const start = performance.now()
  const bytes = await new Promise<number>((resolve, reject) => {
    const asked = request(`${server.url}/v1/export`, { method: 'POST' }, (answer) => {
      let received = 0
      answer.on('data', (chunk: Buffer) => (received += chunk.length))
      answer.on('error', reject)
      answer.on('end', () => resolve(received))
    })
    asked.on('error', reject)
    asked.end(JSON.stringify({ collection: 'load', format }))
  })
  return { bytes, seconds: (performance.now() - start) / 1000 }
}

const server = await startServer()
try {
  await fill(server)
  for (const format of ['ndjson', 'zip']) {
    await exportOnce(server, format)
    const before = residentBytes(server.pid)
    let most = before
    const timer = setInterval(() => {
      const now = residentBytes(server.pid)
      most = { all: Math.max(most.all, now.all), own: Math.max(most.own, now.own) }
    }, 20)
    const { bytes, seconds } = await exportOnce(server, format)
    clearInterval(timer)
    console.log(
      `${format}: ${documents} documents, ${(bytes / MB).toFixed(0)} MB in ${seconds.toFixed(2)} s = ${(bytes / MB / seconds).toFixed(0)} MB/s; ` +
        `resident +${((most.all - before.all) / MB).toFixed(1)} MB, own memory +${((most.own - before.own) / MB).toFixed(1)} MB (of ${(before.own / MB).toFixed(0)} MB)`,
    )
  }
} finally {
  await server.stop()
}
