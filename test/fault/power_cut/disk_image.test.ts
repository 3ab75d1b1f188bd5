/**
 * The rules for rebuilding a disk after a power cut, on hand-written logs: what must survive, what may be
 * lost, and what a flush does not cover.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { Random } from '../../harness/random.js'
import { DiskState } from './disk_image.js'
import type { IoRecord } from './io_log.js'

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-disk-image-'))
const NOTHING_ELSE = { survive: 0, torn: 0 }
const EVERYTHING = { survive: 1, torn: 0 }

function opened(file: number, name: string, fresh = true): IoRecord {
  return { kind: 'open', file, path: name, fresh }
}

function written(file: number, offset: number, text: string, flushed = false): IoRecord {
  return { kind: 'write', file, offset, bytes: Buffer.from(text), flushed }
}

function flush(file: number, sequence: number): readonly IoRecord[] {
  return [
    { kind: 'flush-begin', file, sequence },
    { kind: 'flush-end', file, sequence },
  ]
}

/** The content of a file after a cut behind these records, null if the file does not exist. */
function afterCut(records: readonly IoRecord[], chance: { readonly survive: number; readonly torn: number }, name = 'data'): string | null {
  const disk = new DiskState()
  for (const record of records) disk.feed(record)
  disk.writeAfterCut(scratch, chance, new Random(7))
  const file = path.join(scratch, name)
  return existsSync(file) ? readFileSync(file, 'latin1') : null
}

describe('the disk after a power cut', () => {
  after(() => rmSync(scratch, { recursive: true, force: true }))

  it('keeps all flushed bytes and, at worst, none of the later ones', () => {
    const records = [opened(1, 'data'), written(1, 0, 'flushed '), ...flush(1, 1), written(1, 8, 'lost')]
    assert.equal(afterCut(records, NOTHING_ELSE), 'flushed ')
    assert.equal(afterCut(records, EVERYTHING), 'flushed lost')
  })

  it('does not count a write that returned while the flush ran as flushed', () => {
    const records: IoRecord[] = [
      opened(1, 'data'),
      written(1, 0, 'before'),
      { kind: 'flush-begin', file: 1, sequence: 1 },
      written(1, 6, ' during'),
      { kind: 'flush-end', file: 1, sequence: 1 },
    ]
    assert.equal(afterCut(records, NOTHING_ELSE), 'before')
  })

  it('counts a flush that had not returned as none', () => {
    const records: IoRecord[] = [opened(1, 'data'), ...flush(1, 1), written(1, 0, 'text'), { kind: 'flush-begin', file: 1, sequence: 2 }]
    assert.equal(afterCut(records, NOTHING_ELSE), '')
  })

  it('keeps a synchronous write but not the plain writes around it', () => {
    const records = [opened(1, 'data'), ...flush(1, 1), opened(2, 'data', false), written(1, 0, 'plain'), written(2, 8, 'synced', true)]
    assert.equal(afterCut(records, NOTHING_ELSE), '\0'.repeat(8) + 'synced')
  })

  it('flushes a file through any descriptor of it', () => {
    const records = [opened(1, 'data'), opened(2, 'data', false), written(1, 0, 'text'), ...flush(2, 1)]
    assert.equal(afterCut(records, NOTHING_ELSE), 'text')
  })

  it('undoes a rename whose directory was not flushed, and keeps one whose directory was', () => {
    const renamed: readonly IoRecord[] = [
      opened(1, 'CURRENT'),
      written(1, 0, 'old'),
      ...flush(1, 1),
      opened(2, 'CURRENT.tmp'),
      written(2, 0, 'new'),
      ...flush(2, 2),
      { kind: 'rename', source: 'CURRENT.tmp', target: 'CURRENT' },
    ]
    assert.equal(afterCut(renamed, NOTHING_ELSE, 'CURRENT'), 'old')
    assert.equal(afterCut([...renamed, opened(3, '.'), ...flush(3, 3)], NOTHING_ELSE, 'CURRENT'), 'new')
    assert.equal(afterCut([...renamed, opened(3, '.'), ...flush(3, 3)], NOTHING_ELSE, 'CURRENT.tmp'), null)
  })

  it('tears an unflushed write at sectors only', () => {
    const records = [opened(1, 'data'), ...flush(1, 1), written(1, 100, 'x'.repeat(5000))]
    const torn = afterCut(records, { survive: 1, torn: 1 }) ?? ''
    assert.ok(torn.includes('x') && torn.slice(100).includes('\0'), 'neither whole nor gone')
    for (let sector = 512; sector + 512 <= torn.length; sector += 512) assert.match(torn.slice(sector, sector + 512), /^(?:x+|\0+)$/u)
  })

  it('refuses a log in which a file could change unseen', () => {
    assert.throws(() => afterCut([opened(1, 'data'), { kind: 'blind', file: 1, reason: 'writable map' }], EVERYTHING), /cannot see/u)
    assert.equal(afterCut([opened(1, 'data-lock'), { kind: 'blind', file: 1, reason: 'writable map' }], EVERYTHING), null)
  })
})
