/**
 * Reads documents natively while they are rewritten at full speed, and prints how many were read; ends with
 * the first torn or old one. Usage: node scripts/campaigns/torn-reads.mjs [SECONDS=600]. MDS_TEST_SEED
 * repeats a run.
 */
import { runSeed } from '../../dist/test/harness/random.js'
import { tornReads } from '../../dist/test/fault/threads/torn_reads_run.js'

const seconds = Number(process.argv[2] ?? 600)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
const report = await tornReads(seconds, seed)
console.log(JSON.stringify(report))
const read = report.readers.reduce((sum, { natively, byRows, inPages }) => sum + natively + byRows + inPages, 0)
console.log(`${read} documents read beside ${report.writes} writes in ${seconds} s: none torn, none older than acknowledged`)
