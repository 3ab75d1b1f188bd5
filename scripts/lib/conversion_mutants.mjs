/**
 * Mutants of files through a pool of converters: bytes changed, cut, repeated and swapped between files, in
 * ZIP files also in the unpacked parts, and files under the name of another format. Part of `npm run
 * campaign -- converters`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { ConversionRefused } from '../../dist/src/conversion/conversion_refused.js'
import { CONVERTER_MEMORY_MB_MAX } from '../../dist/src/conversion/converter_memory.js'
import { ConverterPool } from '../../dist/src/conversion/converter_pool.js'
import { formatOf } from '../../dist/src/conversion/formats.js'
import { zipOf } from '../../dist/test/harness/conversion/zip_file.js'
import { randomFrom, seedOfRun } from './random.mjs'

/** The bound of a file under 1 MB, and what a busy machine needs beside it. */
const CONVERSION_MS_MAX = 6000
/** Memory is looked at in intervals, and a process grows in between. */
const MEMORY_MB_SLACK = 200
const FILE_BYTES_MAX = 1_000_000
/** Of so many mutants one gets the name of another format. */
const RENAMED_OF = 20

const seed = seedOfRun()
const below = randomFrom(seed)

/** @returns what was wrong */
export async function convertMutants(corpus, count) {
  console.log(`\nmutants: ${count}, seed ${seed}`)
  const files = readdirSync(corpus, { recursive: true })
    .filter((path) => formatOf(path)?.kind === 'converted')
    .map((path) => ({ path, format: formatOf(path).name, bytes: readFileSync(join(corpus, path)) }))
    .filter(({ bytes }) => bytes.length > 0 && bytes.length < FILE_BYTES_MAX)
  const byFormat = groups(files)
  const folder = mkdtempSync(join(tmpdir(), 'mds-mutants-'))
  const pool = new ConverterPool()
  const run = { failures: [], tally: {}, slowestMs: 0, peakMb: 0 }
  const watch = setInterval(() => (run.peakMb = Math.max(run.peakMb, ...pool.pids().map(residentMb))), 50)
  try {
    let left = count
    const worker = async (number) => {
      while (left-- > 0 && run.failures.length < 10) await convertOne(pool, byFormat, join(folder, String(number)), run)
    }
    await Promise.all([worker(1), worker(2)])
    const path = join(folder, 'last')
    writeFileSync(path, '<p>alive')
    const { markdown } = await pool.convert({ path, format: 'html', textOnly: false })
    if (markdown !== 'alive\n') run.failures.push('the pool is not alive')
  } finally {
    clearInterval(watch)
    pool.close()
    rmSync(folder, { recursive: true })
  }
  for (const [format, outcomes] of Object.entries(run.tally)) console.log(`${format}: ${JSON.stringify(outcomes)}`)
  console.log(`slowest ${run.slowestMs.toFixed(0)} ms, most memory of a process ${run.peakMb.toFixed(0)} MB`)
  if (run.peakMb > CONVERTER_MEMORY_MB_MAX + MEMORY_MB_SLACK) run.failures.push(`a process had ${run.peakMb.toFixed(0)} MB`)
  return run.failures
}

async function convertOne(pool, byFormat, path, run) {
  const formats = Object.keys(byFormat)
  const format = formats[below(formats.length)]
  const siblings = byFormat[format]
  const bytes = mutantOf(siblings[below(siblings.length)].bytes, siblings[below(siblings.length)].bytes)
  const name = below(RENAMED_OF) === 0 ? formats[below(formats.length)] : format
  writeFileSync(path, bytes)
  const begun = performance.now()
  let outcome = 'text'
  try {
    await pool.convert({ path, format: name, textOnly: below(4) === 0 })
  } catch (error) {
    outcome = error instanceof ConversionRefused ? error.reason : 'untyped'
    if (outcome === 'untyped' || /ended by|exit code/.test(error.message)) keep(run, `${name}: ${error.message}`, bytes)
  }
  const tookMs = performance.now() - begun
  run.slowestMs = Math.max(run.slowestMs, tookMs)
  if (tookMs > CONVERSION_MS_MAX) keep(run, `${name}: took ${tookMs.toFixed(0)} ms`, bytes)
  const tally = (run.tally[name] ??= {})
  tally[outcome] = (tally[outcome] ?? 0) + 1
}

/** The file stays, to be looked at. */
function keep(run, failure, bytes) {
  const path = join(mkdtempSync(join(tmpdir(), 'mds-mutant-')), 'file')
  writeFileSync(path, bytes)
  run.failures.push(`${failure} (${path})`)
}

function mutantOf(bytes, other) {
  const isZip = bytes.subarray(0, 4).toString('latin1') === 'PK\x03\x04'
  return isZip && below(4) > 0 ? mutantOfZip(bytes) : changed(bytes, other)
}

function changed(bytes, other) {
  let result = Buffer.from(bytes)
  for (let changes = 1 + below(6); changes > 0; changes--) {
    const at = below(result.length + 1)
    const length = 1 + below(below(2) === 0 ? 8 : 2000)
    const kind = below(7)
    if (kind === 0) result = result.subarray(0, at)
    else if (kind === 1) result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)])
    else if (kind === 2) result = repeated(result, at, length)
    else if (kind === 3) result = Buffer.concat([result.subarray(0, at), other.subarray(below(other.length), other.length)])
    else if (result.length > 0) {
      result = Buffer.from(result)
      for (let left = 1 + below(10); left > 0; left--) result[below(result.length)] = below(256)
    }
    if (result.length > FILE_BYTES_MAX) result = result.subarray(0, FILE_BYTES_MAX)
  }
  return result
}

function repeated(bytes, at, length) {
  const piece = bytes.subarray(at, at + length)
  if (piece.length === 0) return bytes
  const times = Math.min(1 + below(below(3) === 0 ? 5000 : 20), Math.floor(FILE_BYTES_MAX / piece.length))
  return Buffer.concat([bytes.subarray(0, at), ...new Array(times).fill(piece), bytes.subarray(at)])
}

/** Changes one unpacked entry, so that the mutant is read further than to its checksum. */
function mutantOfZip(bytes) {
  const entries = entriesOf(bytes)
  const names = Object.keys(entries).filter((name) => ['.xml', '.rels'].includes(extname(name)))
  if (names.length === 0) return changed(bytes, bytes)
  const name = names[below(names.length)]
  return zipOf({ ...entries, [name]: changed(entries[name], entries[names[below(names.length)]]) })
}

/** By the local headers; entries that can't be unpacked are left out. */
function entriesOf(bytes) {
  const entries = {}
  for (let at = bytes.indexOf('PK\x01\x02', 0, 'latin1'); at !== -1; at = bytes.indexOf('PK\x01\x02', at + 46, 'latin1')) {
    const [packed, nameLength, local] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28), bytes.readUInt32LE(at + 42)]
    const begin = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const data = bytes.subarray(begin, begin + packed)
    try {
      entries[bytes.toString('utf8', at + 46, at + 46 + nameLength)] = bytes.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data)
    } catch {
      continue
    }
  }
  return entries
}

function groups(files) {
  const byFormat = {}
  for (const file of files) (byFormat[file.format] ??= []).push(file)
  return byFormat
}

function residentMb(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // It has ended.
  }
}
