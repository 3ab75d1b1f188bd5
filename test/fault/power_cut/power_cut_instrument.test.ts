/**
 * Tests of the instrument itself, without the server: the shim sees every byte that lmdb-js writes, a store
 * that flushes before it acknowledges survives every cut, and the same store built without flushes is caught.
 * Without the last test a green power-cut test would prove nothing.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Random, runSeed } from '../../harness/random.js'
import { buildShim } from '../shim/shim_build.js'
import { DiskState } from './disk_image.js'
import { type IoRecord, readIoLog } from './io_log.js'

const PROBE = fileURLToPath(new URL('lmdb_probe.js', import.meta.url))
const CUTS = 20
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-instrument-'))
const seed = runSeed()

function record(
  name: string,
  shimOptions: Readonly<Record<string, string>>,
): { readonly records: readonly IoRecord[]; readonly directory: string } {
  const directory = path.join(scratch, name)
  const log = path.join(scratch, `${name}.log`)
  mkdirSync(directory)
  const environment = { ...process.env, LD_PRELOAD: buildShim('powercut'), MDS_FAULT_DIR: directory, MDS_FAULT_LOG: log, ...shimOptions }
  const writer = spawnSync(process.execPath, [PROBE, 'write', directory, log], { env: environment, encoding: 'utf8' })
  assert.equal(writer.signal, 'SIGKILL', writer.stderr)
  return { records: readIoLog(log), directory }
}

/**
 * Cuts the power right after a random acknowledgement, or at any record.
 * @returns the number of acknowledged keys that are missing afterwards
 */
function missingAfterCut(records: readonly IoRecord[], random: Random): number {
  const acknowledgements = records.flatMap((entry, i) => (entry.kind === 'client' ? [i] : []))
  const cut = random.next() < 0.5 ? random.pick(acknowledgements) : random.below(records.length)
  const disk = new DiskState()
  const expected: string[] = []
  for (const entry of records.slice(0, cut + 1)) {
    disk.feed(entry)
    if (entry.kind === 'client') expected.push(entry.text)
  }
  const image = path.join(scratch, 'image')
  disk.writeAfterCut(image, { survive: random.pick([0, 0.3, 0.7, 1]), torn: random.next() }, random)
  const reader = spawnSync(process.execPath, [PROBE, 'read', image], { env: { ...process.env, LMDB_RESTORE: 'safe' }, encoding: 'utf8' })
  if (reader.status !== 0) return expected.length
  const found = new Set(JSON.parse(reader.stdout) as string[])
  return expected.filter((key) => !found.has(key)).length
}

describe(`the power-cut instrument, MDS_TEST_SEED=${seed}`, () => {
  after(() => rmSync(scratch, { recursive: true, force: true }))

  it('sees every byte: the whole log replayed equals the files on disk', () => {
    const { records, directory } = record('flushing', {})
    const disk = new DiskState()
    for (const entry of records) disk.feed(entry)
    const files = new Map(disk.files())
    const present = readdirSync(directory).filter((name) => !name.endsWith('-lock'))
    assert.deepEqual([...files.keys()].sort(), present.sort())
    for (const [name, content] of files) assert.ok(content.equals(readFileSync(path.join(directory, name))), name)
    const random = new Random(seed)
    for (let cut = 0; cut < CUTS; cut++) assert.equal(missingAfterCut(records, random), 0, `cut ${cut}`)
  })

  it('catches a store that acknowledges without a flush', () => {
    const { records } = record('flushless', { MDS_FAULT_SWALLOW_FLUSHES: '1' })
    const random = new Random(seed)
    let lost = 0
    for (let cut = 0; cut < CUTS; cut++) if (missingAfterCut(records, random) > 0) lost++
    assert.ok(lost > 0, `none of ${CUTS} cuts lost anything`)
  })
})
