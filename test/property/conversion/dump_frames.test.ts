/**
 * What the process that reads a dump sends to its server: any division of the bytes gives the same pages, and
 * whatever the bytes are, they end in pages or in one error, and no more than one frame of them is kept.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DumpFrame, endFrame, pagesFrame, readDumpFrames } from '../../../src/conversion/wiki/dump_frames.js'
import { PageBatchWriter, type PageItem, readPageBatch } from '../../../src/conversion/wiki/page_batches.js'
import { holds } from '../../harness/property.js'

const text = fc.string({ unit: 'grapheme', maxLength: 60 })
const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const count = fc.integer({ min: 0, max: 2 ** 31 })
const counts = { pages: count, skipped: count }
const NO_DOCUMENT = { key: '', meta: {}, contentMd: '' }
const meta = fc.array(fc.tuple(title, fc.array(text, { maxLength: 3 })), { maxLength: 5 })
const item: fc.Arbitrary<PageItem> = fc.oneof(
  fc.record(
    {
      ...counts,
      title,
      problem: fc.constant(''),
      key: text,
      meta: meta.map((entries) => Object.fromEntries(entries)),
      contentMd: text,
    },
    { noNullPrototype: true },
  ),
  fc.record({ ...counts, title, problem: title }).map((page) => ({ ...page, ...NO_DOCUMENT })),
  fc.record(counts).map((gap) => ({ ...gap, title: '', problem: '', ...NO_DOCUMENT })),
)
/** The bytes of a frame, fixed here: a batch of 4 MiB whose last page is the longest document. */
const PAGES_MAX = 21 * 1024 * 1024
const END_MAX = 16 * 1024
const anyKind = fc.oneof(fc.constantFrom(0, 1, 2), fc.nat(255))
const anyLength = fc.oneof(fc.constantFrom(0, 1, END_MAX, END_MAX + 1, PAGES_MAX, PAGES_MAX + 1), fc.nat(2 ** 32 - 1))
const batches = fc.array(fc.array(item, { minLength: 1, maxLength: 8 }), { maxLength: 6 })
const end = fc.record(
  { fault: fc.constantFrom('' as const, 'malformed' as const, 'unreadable' as const), message: text },
  { noNullPrototype: true },
)

function batchOf(items: readonly PageItem[]): Buffer {
  const writer = new PageBatchWriter()
  for (const page of items) {
    const { pages, skipped, title: name, problem } = page
    if (name === '') writer.gap(pages, skipped)
    else if (problem !== '') writer.problem(pages, skipped, name, problem)
    else writer.document(pages, skipped, name, page)
  }
  return writer.take()
}

/** The bytes in parts that end there, and how many of the parts were taken. */
class Parts {
  taken = 0
  constructor(
    readonly bytes: Uint8Array,
    readonly ends: readonly number[],
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const ends = [...this.ends.map((at) => Math.min(at, this.bytes.length)), this.bytes.length].sort((a, b) => a - b)
    let begin = 0
    for (const partEnd of ends) {
      this.taken += 1
      await Promise.resolve()
      yield this.bytes.subarray(begin, partEnd)
      begin = partEnd
    }
  }
}

async function framesOf(parts: AsyncIterable<Uint8Array>): Promise<DumpFrame[]> {
  const frames: DumpFrame[] = []
  for await (const frame of readDumpFrames(parts)) frames.push(frame)
  return frames
}

/** What was read before the error, too. */
async function outcomeOf(parts: AsyncIterable<Uint8Array>): Promise<{ readonly frames: readonly DumpFrame[]; readonly error: unknown }> {
  const frames: DumpFrame[] = []
  try {
    for await (const frame of readDumpFrames(parts)) frames.push(frame)
    return { frames, error: undefined }
  } catch (error) {
    return { frames, error }
  }
}

const cuts = fc.oneof(fc.array(fc.nat(4000), { maxLength: 12 }), fc.constant(Array.from({ length: 4000 }, (_, at) => at)))

test('dump frames: pages that are sent are received, however their bytes are divided', () =>
  holds(
    fc.asyncProperty(batches, end, cuts, async (sent, last, ends) => {
      const bytes = Buffer.concat([...sent.map((items) => pagesFrame(batchOf(items))), endFrame(last)])
      const frames = await framesOf(new Parts(bytes, ends))
      const received = frames.map((frame) => ('pages' in frame ? readPageBatch(frame.pages) : frame.end))
      assert.deepEqual(received, [...sent, last])
    }),
  ))

test('dump frames: bytes that end early give the whole frames before, and no end', () =>
  holds(
    fc.asyncProperty(batches, end, cuts, fc.nat(10_000), async (sent, last, ends, at) => {
      const whole = sent.map((items) => pagesFrame(batchOf(items)))
      const bytes = Buffer.concat([...whole, endFrame(last)])
      const cut = bytes.subarray(0, at % bytes.length)
      const frames = await framesOf(new Parts(cut, ends))
      let length = 0
      const complete = whole.filter((frame) => (length += frame.length) <= cut.length)
      assert.deepEqual(frames.map((frame) => 'pages' in frame && pagesFrame(frame.pages)), complete) // prettier-ignore
    }),
  ))

test('dump frames: any other bytes give frames or one error', () =>
  holds(
    fc.asyncProperty(batches, fc.uint8Array({ maxLength: 40 }), fc.nat(4000), cuts, async (sent, garbage, at, ends) => {
      const bytes = Buffer.concat([...sent.map((items) => pagesFrame(batchOf(items))), endFrame({ fault: '', message: '' })])
      bytes.set(garbage.subarray(0, Math.max(0, bytes.length - (at % bytes.length))), at % bytes.length)
      const { frames, error } = await outcomeOf(new Parts(bytes, ends))
      assert.ok(error === undefined || error instanceof Error)
      for (const frame of frames) if ('pages' in frame) assertPagesOrError(frame.pages)
    }),
  ))

test('dump frames: a frame that is too long or of no kind is refused with its head, whatever follows', () =>
  holds(
    fc.asyncProperty(anyKind, anyLength, async (kind, length) => {
      const head = Buffer.alloc(5)
      head[0] = kind
      head.writeUInt32LE(length, 1)
      const isValid = kind <= 1 && length > 0 && length <= (kind === 0 ? PAGES_MAX : END_MAX)
      const parts = new Parts(Buffer.concat([head, Buffer.alloc(64)]), [1, 2, 3, 4, 5, 6, 7])
      const { frames, error } = await outcomeOf(parts)
      if (isValid && length > 64) assert.deepEqual([frames.length, error], [0, undefined])
      else if (!isValid) {
        assert.match(String(error), /sent no valid frame/)
        assert.equal(parts.taken, 5)
      }
    }),
    { numRuns: 300 },
  ))

test('dump frames: parts are copied and not kept, so a frame that comes byte by byte takes the memory of one', async () => {
  const payload = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))
  async function* bytes(): AsyncGenerator<Uint8Array> {
    const part = Buffer.alloc(1)
    for (const byte of pagesFrame(payload)) {
      part[0] = byte
      await Promise.resolve()
      yield part
    }
  }
  const [frame] = await framesOf(bytes())
  assert.ok(frame !== undefined && 'pages' in frame && frame.pages.equals(payload))
})

test('dump frames: a batch with any byte changed, cut off or made of any bytes is read or refused', () =>
  holds(
    fc.property(fc.array(item, { minLength: 1, maxLength: 8 }), fc.uint8Array({ maxLength: 30 }), fc.nat(4000), (items, garbage, at) => {
      const batch = batchOf(items)
      const cut = batch.subarray(0, at % batch.length)
      if (isWhole(items, cut.length)) assert.deepEqual(readPageBatch(cut), items.slice(0, readPageBatch(cut).length))
      else assert.throws(() => readPageBatch(cut), /ends within an item|is too long/)
      batch.set(garbage.subarray(0, batch.length - (at % batch.length)), at % batch.length)
      assertPagesOrError(batch)
      assertPagesOrError(garbage)
    }),
    { numRuns: 300 },
  ))

test('dump frames: a batch of more items than pages can give is refused', () => {
  const gap = batchOf([{ pages: 0, skipped: 0, title: '', problem: '', ...NO_DOCUMENT }])
  assert.equal(readPageBatch(Buffer.concat(Array.from({ length: 1000 }, () => gap))).length, 1000)
  assert.throws(() => readPageBatch(Buffer.concat(Array.from({ length: 131_073 }, () => gap))), /too many items/)
})

/** Whether the batch of these items has an end of an item there. */
function isWhole(items: readonly PageItem[], length: number): boolean {
  return items.some((_, at) => batchOf(items.slice(0, at)).length === length)
}

/** What is read has the form of pages, so that no lane meets another one. */
function assertPagesOrError(batch: Uint8Array): void {
  let items: readonly PageItem[]
  try {
    items = readPageBatch(batch)
  } catch (error) {
    assert.ok(error instanceof Error && !(error instanceof RangeError) && !(error instanceof TypeError), String(error))
    return
  }
  for (const { pages, skipped, title: name, problem, key, meta: fields, contentMd } of items) {
    assert.ok(Number.isSafeInteger(pages) && Number.isSafeInteger(skipped))
    for (const value of [name, problem, key, contentMd, ...Object.values(fields).flat()]) assert.equal(typeof value, 'string')
  }
}
