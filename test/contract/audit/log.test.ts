/** The files of the audit log: they survive the server, are rotated and removed, and show every change. */
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { fileName } from '../../../src/audit/chain.js'
import { LogWriter } from '../../../src/audit/log_writer.js'
import {
  addDocuments,
  auditFiles,
  auditOf,
  eventLines,
  killStarted,
  linesOf,
  startAudited,
  timesOf,
  verify,
} from '../../harness/server/audit_log.js'
import { runToEnd } from '../../harness/server/server.js'

const folders: string[] = []
after(async () => {
  await killStarted()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mds-audit-'))
  folders.push(folder)
  return folder
}

const DAY_MS = 86_400_000

describe('audit log on disk', () => {
  it('audit: an event that a query has shown survives kill -9, the chain goes on behind it, and a torn tail is cut off', async () => {
    const directory = scratch()
    const log = join(directory, 'audit')
    let server = await startAudited({ directory })
    await addDocuments(server, 'a', 50)
    const shown = await timesOf(server, 'limit=1000')
    assert.equal(shown.length, 50)
    await server.kill()
    const [file = ''] = auditFiles(log)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(log).mode & 0o777, 0o700)
    // What a process leaves that ends in the middle of a batch.
    appendFileSync(file, `${Buffer.from(eventLines(1, 1)).toString()}{"ts":17`)
    const torn = await verify(log)
    assert.equal(torn.code, 1)
    assert.match(torn.output, /lines \d+ to \d+ have no seal: the end was cut off there, or the server ended there/)
    server = await startAudited({ directory })
    assert.match(server.output(), /the last batch of an earlier process was not whole and was cut off bytes=\d+/)
    await addDocuments(server, 'b', 5)
    const times = await timesOf(server, 'limit=1000')
    assert.deepEqual(times.slice(5), shown)
    assert.equal(await server.stop(), 0)
    const { code, output } = await verify(log)
    assert.equal(code, 0, output)
    assert.match(output, /1 files, \d+ batches, 55 events; ends with a shutdown\n/)
  })

  it('audit: all files together have at most SVC_AUDIT_MAX_BYTES; health warns before the oldest are removed, and the log says so', async () => {
    const directory = scratch()
    const log = join(directory, 'audit')
    const server = await startAudited({ directory, env: { SVC_AUDIT_MAX_BYTES: '64KB' } })
    const sizes = (): readonly number[] => auditFiles(log).map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    const bytes = (): number => {
      let [before, now] = [sizes(), sizes()]
      // A file may be removed while the others are looked at.
      while (!isDeepStrictEqual(before, now)) [before, now] = [now, sizes()]
      return now.reduce((sum, size) => sum + size, 0)
    }
    const warnings = async (): Promise<string> => JSON.stringify((await server.get('/health')).json<{ persistence: object }>().persistence)
    assert.doesNotMatch(await warnings(), /audit_nearly_full/)
    while (bytes() < 0.85 * 65_536) await addDocuments(server, 'a', 20)
    assert.equal(auditFiles(log)[0], join(log, fileName(1)))
    assert.match(
      await warnings(),
      /audit_nearly_full.*the audit log has \d+ of 65536 bytes \(SVC_AUDIT_MAX_BYTES\); .* before their 90 days/,
    )
    assert.match((await server.get('/metrics')).text, /^mddb_audit_bytes \d{5}$/m)
    for (let more = 0; more < 20; more++) {
      await addDocuments(server, 'a', 20)
      assert.ok(bytes() <= 65_536, String(bytes()))
    }
    assert.notEqual(auditFiles(log)[0], join(log, fileName(1)))
    assert.ok(bytes() >= 32_768)
    await server.stop()
    assert.match(server.output(), /the oldest files were removed because all together have reached their bound/)
    const { code, output } = await verify(log)
    assert.equal(code, 0, output)
  })

  it('audit: events that come together are batches with one flush each, and a shutdown writes every event that it has taken', async () => {
    const directory = scratch()
    const server = await startAudited({ directory })
    await addDocuments(server, 'a', 200)
    await server.stop()
    const { output } = await verify(join(directory, 'audit'))
    assert.match(output, /, 200 events; ends with a shutdown/)
    const [, batches = ''] = /, (\d+) batches,/.exec(output) ?? []
    // With one for each start and end.
    assert.ok(Number(batches) <= 52, output)
  })

  it('audit: a file ends at its size, and the chain goes through all files, in a directory of the operator', async () => {
    const folder = join(scratch(), 'deep', 'log')
    const env = { SVC_AUDIT_DIR: folder, SVC_AUDIT_FILE_MAX_SIZE: '4KB' }
    const server = await startAudited({ env })
    for (let round = 0; round < 4; round++) {
      await addDocuments(server, `c${round}`, 20)
      await auditOf(server)
    }
    const second = await runToEnd({ env: { SVC_AUDIT_ENABLED: 'true', ...env } })
    assert.match(second.output, /the audit log in .* is in use by another process/)
    await server.stop()
    assert.ok(auditFiles(folder).length >= 3)
    const { code, output } = await verify(folder)
    assert.equal(code, 0, output)
    assert.match(output, / 80 events/)
  })

  it('audit: files older than the retention are removed, the log says so itself, and a file that is removed otherwise is missed', async () => {
    const directory = scratch()
    const log = join(directory, 'audit')
    let now = Date.now() - 10 * DAY_MS
    const writer = new LogWriter({ folder: log, fileBytesMax: 1 << 20, retentionDays: 0, bytesMax: 1 << 30, now: () => now })
    writer.open(0)
    for (let day = 0; day < 10; day++, now += DAY_MS) writer.append(eventLines(day * 1000 + 1, 3), 0)
    writer.close()
    assert.equal(auditFiles(log).length, 10)
    const server = await startAudited({ directory, env: { SVC_AUDIT_RETENTION_DAYS: '3' } })
    await addDocuments(server, 'a', 1)
    await server.stop()
    const kept = auditFiles(log)
    assert.ok(kept.length >= 4 && kept.length <= 6, String(kept.length))
    const whole = await verify(log)
    assert.equal(whole.code, 0, whole.output)
    rmSync(kept[0]!)
    const missing = await verify(log)
    assert.equal(missing.code, 1)
    assert.match(missing.output, /the beginning is missing: retention has kept batch \d+, and the first one there is \d+/)
  })
})

describe('mds audit verify', () => {
  const log = scratch()
  const file = join(log, fileName(1))
  const writer = new LogWriter({ folder: log, fileBytesMax: 1 << 20, retentionDays: 0, bytesMax: 1 << 30 })
  writer.open(0)
  // The header is line 1. Batch 1: lines 2 to 5, batch 2: lines 6 to 9, batch 3: lines 10 to 13.
  for (const first of [100, 200, 300]) writer.append(eventLines(first, 3), 0, first === 300 ? 'stop' : undefined)
  writer.close()
  const lines = linesOf(file)
  const after = async (change: (lines: string[]) => string[]): Promise<string> => {
    writeFileSync(file, change([...lines]).map((line) => `${line}\n`).join('')) // prettier-ignore
    const { code, output } = await verify(log)
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
    assert.equal(code, 1, output)
    return output
  }

  it('audit verify: a whole log is 0, and one that cannot be read is 1', async () => {
    const { code, output } = await verify(log)
    assert.equal(code, 0)
    assert.match(output, /^1 files, 3 batches, 9 events; ends with a shutdown\nend 3:[0-9a-f]{64}\nwhole: the chain is unbroken\n$/)
    assert.equal((await verify(join(log, 'nowhere'))).code, 1)
    assert.equal((await verify(scratch())).code, 1)
  })

  it('audit verify: says which line was removed, changed, added or reordered', async () => {
    const at = (line: number, text: string): RegExp => new RegExp(`^${file}:${line}: ${text}`, 'm')
    assert.match(await after((all) => all.toSpliced(6, 1)), at(7, '1 line before this one was removed'))
    assert.match(await after((all) => all.with(6, all[6]!.replace('ada', 'eve'))), at(7, 'the line was changed'))
    assert.match(await after((all) => all.toSpliced(6, 0, all[2]!)), at(7, '1 line was added from here on'))
    assert.match(await after((all) => all.with(5, all[6]!).with(6, all[5]!)), at(6, 'lines were reordered from here on'))
    assert.match(await after((all) => all.with(0, '{}')), at(1, 'the header of the file is missing or changed'))
    assert.match(
      await after((all) => all.with(0, all[0]!.replace('"audit":1', '"audit":2'))),
      at(1, 'version 2 of the format is not known'),
    )
  })

  it('audit verify: finds a batch that was removed, moved, sealed again or cut off', async () => {
    assert.match(await after((all) => all.toSpliced(5, 4)), /:6: batch 2 is missing before this line/)
    assert.match(await after((all) => [...all.slice(0, 5), ...all.slice(9, 13), ...all.slice(5, 9)]), /batch 2 comes after batch 3/)
    const other = (await import('../../../src/audit/chain.js')).sumOf(Buffer.from(lines[5]!.replace('ada', 'eve')))
    const sealedAgain = await after((all) => {
      const sums = (JSON.parse(all[8]!) as { sums: string }).sums
      return all.with(5, all[5]!.replace('ada', 'eve')).with(8, all[8]!.replace(sums, other + sums.slice(8)))
    })
    assert.match(sealedAgain, /:6: batch 2 \(lines 6 to 9\) was changed after it was sealed/)
    assert.match(await after((all) => all.slice(0, 11)), /:10: lines 10 to 11 have no seal/)
  })

  it('audit verify: an end that was cut off at a seal is found by whoever knows an earlier end', async () => {
    const { output } = await verify(log)
    const [, known = ''] = /^end (.*)$/m.exec(output) ?? []
    assert.equal((await verify(log, '--contains', known)).code, 0)
    const whole = readFileSync(file)
    writeFileSync(file, lines.slice(0, 9).map((line) => `${line}\n`).join('')) // prettier-ignore
    assert.match((await verify(log)).output, /ends without a shutdown/)
    const cut = await verify(log, '--contains', known)
    writeFileSync(file, whole)
    assert.deepEqual([cut.code, /batch 3 with hash \w+ is not there/.test(cut.output)], [1, true])
    assert.equal((await verify(log, '--contains', 'x')).code, 1)
  })
})
