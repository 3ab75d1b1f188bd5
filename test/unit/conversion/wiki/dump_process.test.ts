/**
 * What a server makes of the process that reads a dump, whatever that process does: frames, one end, and no
 * process is left. The programs here are not the reader.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { DumpProcess } from '../../../../src/background/wiki/dump_process.js'
import type { DumpFrame } from '../../../../src/conversion/wiki/dump_frames.js'
import { untilAsked } from '../../../harness/process/until.js'
import { dumpReaders } from '../../../harness/wiki_imports.js'

const directory = mkdtempSync(join(tmpdir(), 'mds-dump-process-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const TASK = { path: '/dev/null', key: '', namespaces: [0], skipRedirects: false, batchDocuments: 1, after: 0, bytesMax: 1 }
/** A program that lives on. */
const LIVE = 'setInterval(() => undefined, 1000);'
let programs = 0
const WRITE = "const { writeSync, closeSync } = await import('node:fs');"

/** @param source of a program; `frames` are written to descriptor 3 */
async function framesOf(source: string): Promise<{ readonly frames: readonly DumpFrame[]; readonly ms: number }> {
  const program = join(directory, `dump_reader-${programs++}.mjs`)
  writeFileSync(program, WRITE + source)
  const begun = performance.now()
  const child = new DumpProcess(TASK, program)
  const frames: DumpFrame[] = []
  for await (const frame of child.frames()) frames.push(frame)
  const ms = performance.now() - begun
  child.kill()
  await untilAsked(() => dumpReaders(process), (left) => left.length === 0) // prettier-ignore
  return { frames, ms }
}

const endOf = (message: string): DumpFrame => ({ end: { fault: 'unreadable', message } })

describe('the process that reads a dump', () => {
  it('wiki: a reader that sends what is no frame is ended with an error, and is read no further', async () => {
    const invalid = endOf('the reader of the dump sent no valid frame')
    const sources = [
      `${LIVE} for (;;) writeSync(3, Buffer.alloc(65536, 0xff))`,
      `${LIVE} writeSync(3, Buffer.from([0, 255, 255, 255, 255])); for (;;) writeSync(3, Buffer.alloc(65536))`,
      `${LIVE} writeSync(3, Buffer.alloc(5)); for (;;) writeSync(3, Buffer.alloc(65536))`,
      `${LIVE} writeSync(3, 'not a frame')`,
    ]
    for (const source of sources) assert.deepEqual((await framesOf(source)).frames, [invalid], source)
    const noEnd = endOf('the reader of the dump sent no valid end')
    for (const end of ['null', '{}', 'x', '{"fault":1,"message":"m"}', '{"fault":"other","message":"m"}', '{"fault":""}'])
      assert.deepEqual((await framesOf(`${LIVE} writeSync(3, Buffer.from([1, ${end.length}, 0, 0, 0])); writeSync(3, '${end}')`)).frames, [
        noEnd,
      ])
  })

  it('wiki: a reader that ends or closes its pipe without an end of its frames is an error, also within a frame', async () => {
    const frame = 'writeSync(3, Buffer.from([0, 2, 0, 0, 0, 7, 7]));'
    const pages: DumpFrame = { pages: Buffer.from([7, 7]) }
    assert.deepEqual((await framesOf('process.exit(3)')).frames, [endOf('the reader of the dump ended by exit code 3')])
    assert.deepEqual((await framesOf(`${frame} process.exit(0)`)).frames, [pages, endOf('the reader of the dump ended by exit code 0')])
    const within = await framesOf(`${frame} writeSync(3, Buffer.from([0, 2, 0, 0, 0, 7])); process.kill(process.pid, 'SIGKILL')`)
    assert.deepEqual(within.frames, [pages, endOf('the reader of the dump ended by SIGKILL')])
    const closed = await framesOf(`${LIVE} ${frame} closeSync(3)`)
    assert.deepEqual(closed.frames, [pages, endOf('the reader of the dump ended by SIGKILL')])
    assert.ok(closed.ms < 15_000)
  })

  it('wiki: frames behind the end are not read, and a reader that lives on is ended', async () => {
    const end = '{"fault":"","message":""}'
    const { frames } = await framesOf(
      `${LIVE} writeSync(3, Buffer.from([1, ${end.length}, 0, 0, 0])); writeSync(3, '${end}'); for (;;) writeSync(3, Buffer.alloc(65536, 0xff))`,
    )
    assert.deepEqual(frames, [{ end: { fault: '', message: '' } }])
  })
})
