/**
 * Question: how long are reads unavailable when a full disk refuses the meta page of a commit, so that the
 * process has to be replaced? Measured from the refused write to the first read that is answered again; 200
 * documents, five times, with a start of the same store for comparison. There is no peer: the measure is the
 * clock.
 * Run: npm run bench -- replaced-child. Aim: 1 s. Last result: bench/README.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuseMetaPage } from '../../test/fault/full_disk/refused_meta_page.js'
import { FaultControl } from '../../test/fault/shim/fault_control.js'
import { startServer, type TestResponse } from '../../test/harness/server/server.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const ROUNDS = 5
const DOCUMENTS = 200

const folder = mkdtempSync(join(tmpdir(), 'mds-bench-replaced-'))
const directory = join(folder, 'db')
mkdirSync(directory)
const control = new FaultControl(join(folder, 'control'))
const env = control.environment(directory)
const report = new Report()
const document = { collection: 'c', key: 'k', lang: 'en', contentMd: '# Text' }

const filled = await startServer({ directory })
const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({ ...document, key: `k${n}` }))
await filled.post('/v1/add-batch', { collection: 'c', documents })
await filled.stop()

const away: number[] = []
const starts: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const begunAt = performance.now()
  const server = await startServer({ directory, env, supervisor: true, address: filled.address })
  starts.push(performance.now() - begunAt)
  const add = (): Promise<TestResponse | undefined> => server.post('/v1/add', document).catch(() => undefined)
  const read = (): Promise<TestResponse | undefined> => server.post('/v1/get', { ...document, key: 'k0' }).catch(() => undefined)
  const refusedAt = await refuseMetaPage(control, add, () => answered(add))
  await answered(read)
  away.push(performance.now() - refusedAt)
  control.disarm()
  await answered(add)
  await server.stop()
}
rmSync(folder, { recursive: true })
report.add({ what: 'reads away, ms', median: median(away), longest: Math.max(...away) })
report.add({ what: 'start with supervisor, ms', median: median(starts), longest: Math.max(...starts) })
report.table(['what', 'median', 'longest'])

async function answered(ask: () => Promise<TestResponse | undefined>): Promise<void> {
  while ((await ask())?.status !== 200) await new Promise((resolve) => setImmediate(resolve))
}
