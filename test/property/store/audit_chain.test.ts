/** The chain of the audit log: any batches are whole, any change is found, any cut can be resumed. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { fileName } from '../../../src/audit/chain.js'
import { ChainReader, type ReadBatch } from '../../../src/audit/chain_reader.js'
import { EventClock, lineOf } from '../../../src/audit/event_line.js'
import { LogWriter } from '../../../src/audit/log_writer.js'
import { Ring } from '../../../src/audit/ring.js'
import { verifyLog } from '../../../src/audit/verification.js'
import { ServiceError } from '../../../src/errors.js'
import { filterOf, nanosecondsOf } from '../../../src/worker/handlers/audit.js'
import { holds } from '../../harness/property.js'
import { eventLines } from '../../harness/server/audit_log.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-chain-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let logs = 0

/** Numbers of events of its batches. */
const batchSizes = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 6 })

/** @returns the folder of the log and its only file */
function written(sizes: readonly number[]): { readonly log: string; readonly file: string } {
  const log = join(folder, String(++logs))
  const writer = new LogWriter({ folder: log, fileBytesMax: 1 << 30, retentionDays: 0, bytesMax: 1 << 30 })
  writer.open(0)
  sizes.forEach((size, at) => writer.append(eventLines(at * 100 + 1, size, 'ä"\\\u2028'), 0))
  writer.close()
  return { log, file: join(log, fileName(1)) }
}

function batchesOf(bytes: Uint8Array, pieceBytes: number): ReadBatch[] {
  const batches: ReadBatch[] = []
  const reader = new ChainReader({ onBatch: (batch) => batches.push(batch) })
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.feed(bytes.subarray(at, at + pieceBytes))
  reader.end()
  return batches
}

describe('audit chain', () => {
  it('a log that was written is whole, in pieces of any size', () => {
    holds(
      fc.property(batchSizes, fc.integer({ min: 1, max: 500 }), (sizes, pieceBytes) => {
        const { log, file } = written(sizes)
        const { total, batches, events } = verifyLog(log)
        assert.deepEqual([total, batches, events], [0, sizes.length, sizes.reduce((sum, size) => sum + size, 0)])
        assert.deepEqual(batchesOf(readFileSync(file), pieceBytes), batchesOf(readFileSync(file), 1 << 20))
      }),
      { numRuns: 60 },
    )
  })

  it('a changed byte of any batch but the last, or of any event, is found', () => {
    holds(
      fc.property(batchSizes, fc.nat(), fc.integer({ min: 1, max: 255 }), (sizes, position, change) => {
        const { log, file } = written([...sizes, 1])
        const bytes = readFileSync(file)
        // The seal of the last batch has no later one that covers it.
        const covered = bytes.lastIndexOf('\n{"seal":') + 1
        const at = position % covered
        bytes[at]! ^= change
        writeFileSync(file, bytes)
        assert.ok(verifyLog(log).total > 0, `byte ${at}`)
      }),
      { numRuns: 300 },
    )
  })

  it('a log that was cut anywhere is resumed behind its last whole seal, and is then whole', () => {
    holds(
      fc.property(batchSizes, fc.nat(), (sizes, position) => {
        const { log, file } = written(sizes)
        const size = readFileSync(file).length
        truncateSync(file, position % (size + 1))
        const left = batchesOf(readFileSync(file), 1 << 20)
        const writer = new LogWriter({ folder: log, fileBytesMax: 1 << 30, retentionDays: 0, bytesMax: 1 << 30 })
        const resumed = writer.open(1000)
        assert.equal(resumed.batches, left.length)
        writer.append(eventLines(9_000, 2), 0, 'start')
        writer.close()
        const { total, batches } = verifyLog(log)
        assert.deepEqual([total, batches], [0, left.length + 1])
      }),
      { numRuns: 100 },
    )
  })

  it('batches that are small beside the bound never take all files beyond it, with seals and headers', () => {
    const bytesMax = 16_384
    holds(
      fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 20, maxLength: 60 }), (sizes) => {
        const log = join(folder, String(++logs))
        const writer = new LogWriter({ folder: log, fileBytesMax: 1 << 30, retentionDays: 0, bytesMax })
        writer.open(0)
        sizes.forEach((size, at) => {
          writer.append(eventLines(at * 100 + 1, size), 0)
          const bytes = readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0)
          assert.ok(bytes <= bytesMax, `${bytes} bytes`)
          assert.equal(writer.bytes, bytes)
        })
        writer.close()
        assert.equal(verifyLog(log).total, 0)
      }),
      { numRuns: 30 },
    )
  })

  it('any bytes are read without an error, and no event with bytes of its own is put into an answer', () => {
    holds(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        const { log, file } = written([2, 2])
        writeFileSync(file, Buffer.concat([readFileSync(file), bytes, Buffer.from('\n')]))
        verifyLog(log)
        const { recent } = new LogWriter({ folder: log, fileBytesMax: 1 << 30, retentionDays: 0, bytesMax: 1 << 30 }).open(1000)
        for (const line of recent) assert.equal(typeof (JSON.parse(line) as { ts: unknown }).ts, 'number')
      }),
      { numRuns: 100 },
    )
  })
})

describe('audit events in memory', () => {
  const texts = fc.oneof(fc.constantFrom('', 'ada', '"', '","action":"x","resource":'), fc.string({ unit: 'grapheme', maxLength: 20 }))

  it('the ring finds by every filter what a search of parsed events finds', () => {
    const event = fc.record({ actor: texts, action: texts, result: fc.constantFrom('ok' as const, 'fail' as const), resource: texts })
    const wanted = { actor: texts, action: texts, result: fc.constantFrom('ok' as const, 'fail' as const) }
    const times = fc.record({ from: fc.nat(60).map(String), to: fc.nat(60).map(String) }, { requiredKeys: [] })
    holds(
      fc.property(
        fc.array(event, { maxLength: 50 }),
        fc.record(wanted, { requiredKeys: [] }),
        times,
        fc.nat(30),
        (events, filter, span, limit) => {
          const ring = new Ring(20)
          const all = events.map((given, at) => ({ ...given, ip: '', userAgent: given.actor, ts: at }))
          for (const { ts, ...given } of all) ring.push(lineOf(String(ts), given).trimEnd())
          const kept = all.slice(-20).reverse()
          const found = kept.filter(
            ({ ts, ...given }) =>
              Object.entries(filter).every(([name, value]) => given[name as keyof typeof filter] === value) &&
              ts >= Number(span.from ?? 0) &&
              ts <= Number(span.to ?? 60),
          )
          const lines = ring.find({ ...filter, ...span, limit })
          assert.deepEqual(lines.map((line) => (JSON.parse(line) as { ts: number }).ts), found.slice(0, limit).map(({ ts }) => ts)) // prettier-ignore
        },
      ),
    )
  })

  it('times increase strictly whatever the clock does, and have 19 digits', () => {
    holds(
      fc.property(fc.array(fc.integer({ min: 1.7e12, max: 1.7e12 + 5 }), { minLength: 2 }), (clock) => {
        let at = 0
        const times = new EventClock(() => clock[at++]!)
        const made = clock.map(() => times.next())
        for (const [index, time] of made.entries()) {
          assert.equal(time.length, 19)
          assert.ok(index === 0 || time > made[index - 1]!)
        }
      }),
    )
  })
})

describe('audit filters', () => {
  it('a time of RFC 3339 is its nanoseconds, with any fraction and offset', () => {
    const zone = fc.record({ sign: fc.constantFrom('+', '-', ' '), hours: fc.nat(23), minutes: fc.nat(59) })
    holds(
      fc.property(fc.integer({ min: 86_400_000, max: 4e12 }), fc.nat(999_999_999), zone, (ms, nanos, { sign, hours, minutes }) => {
        const seconds = Math.floor(ms / 1000)
        const offset = (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60)
        const local = new Date((seconds + offset) * 1000).toISOString().slice(0, 19)
        const two = (value: number): string => String(value).padStart(2, '0')
        const text = `${local}.${String(nanos).padStart(9, '0')}${sign}${two(hours)}:${two(minutes)}`
        assert.equal(nanosecondsOf(text), String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)))
        assert.equal(nanosecondsOf(`${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`), `${seconds}000000000`)
      }),
    )
  })

  it('any texts are a filter or a refusal of the request', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('2026-01-01T00:00:00Z', '2026-13-01T00:00:00Z', '-1', '00', '99999999999999999999', 'ok'),
    )
    const input = fc.record(
      { from: text, to: text, fromNanos: text, toNanos: text, actor: text, result: text, limit: fc.integer() },
      { requiredKeys: [] },
    )
    holds(
      fc.property(input, (given) => {
        try {
          const { from, to, limit } = filterOf(given)
          assert.ok(limit >= 1 && limit <= 10_000)
          for (const time of [from, to]) assert.match(time ?? '0', /^\d{1,20}$/)
        } catch (error) {
          assert.ok(error instanceof ServiceError && error.isInvalidInput, String(error))
        }
      }),
    )
  })
})
