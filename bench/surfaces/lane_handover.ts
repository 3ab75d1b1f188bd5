/**
 * Question: what does it cost to pass a request to a lane and take its answer back, and what does drain
 * batching save? In one process, no HTTP: the real dispatcher, pools and lanes over an empty store. IN_FLIGHT
 * requests of a read that does almost nothing (`ftsLanguages`) are in flight; each answered request is
 * replaced by a new one. Baseline in the same run: the same pool with one Piscina task per request. CPU is
 * that of the whole process per request. Run: npm run bench -- lane-handover [SECONDS]. Fails below
 * RATIO_MIN, so that CI notices a loss of batching. Last result: see bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ANONYMOUS } from '../../src/access/principal.js'
import { loadConfig } from '../../src/config/config.js'
import { Lanes } from '../../src/dispatch/lanes.js'
import { LanePool } from '../../src/dispatch/pools/lane_pool.js'
import type { Ticket } from '../../src/dispatch/ticket.js'
import { laneOperations as operations } from '../../src/operations/index.js'
import { generationsOf, openDataDirectory } from '../../src/store/files/layout.js'
import { logMemory } from '../../src/telemetry/log.js'
import { ControlBlock } from '../../src/wire/control_block.js'
import { EmbeddingBlock } from '../../src/wire/embedding_block.js'
import type { LaneKind } from '../../src/wire/messages/lane_start.js'
import { dispatcherOf, ownTelemetry, requestOf, SURFACE } from '../../test/harness/dispatching.js'
import { Report } from '../measure/report.js'

const SECONDS = Number(process.argv[2] ?? 3)
const IN_FLIGHT = 64
const RATIO_MIN = 1.3

const directory = mkdtempSync(join(tmpdir(), 'mds-bench-handover-'))
const config = loadConfig(['--db', directory], {})
const telemetry = ownTelemetry()
const control = ControlBlock.create()
const dispatcher = dispatcherOf(config, control, telemetry)
const operationIndex = operations.findIndex(({ name }) => name === 'ftsLanguages')
const operation = operations[operationIndex]!

function startLanes(): Promise<Lanes> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(reason))
    const lanes: Lanes = new Lanes(
      config,
      control,
      telemetry,
      dispatcher,
      { onReady: () => resolve(lanes), onFailed: fail, onFatal: fail },
      generationsOf(directory),
    )
  })
}

/** Sends one request; resolves when it has been answered. */
type Ask = (client: number) => Promise<void>

const askDispatcher: Ask = () =>
  new Promise((resolve) => {
    const sink = { answer: () => resolve() }
    dispatcher.submit({ ...requestOf(dispatcher, operation, {}), sink })
  })

/** One Piscina task per request, over the same kind and number of lanes. */
async function startOneByOne(): Promise<{ readonly ask: Ask; readonly pool: LanePool }> {
  const waiting = new Array<() => void>(IN_FLIGHT)
  const pool: LanePool = await new Promise((resolve, reject) => {
    let ready = 0
    const fail = (_kind: LaneKind, reason: string): void => reject(new Error(reason))
    const started: LanePool = new LanePool(
      {
        kind: 'read',
        config,
        control: control.buffer,
        telemetry: telemetry.buffer,
        log: logMemory(),
        accesses: null,
        searches: null,
        isReadOnly: false,
        embedding: EmbeddingBlock.create().buffer,
      },
      config.readLanes,
      IN_FLIGHT,
      {
        onAnswer: ({ slot }) => waiting[slot]!(),
        onFetch: () => Promise.resolve([]),
        onNoticed: () => undefined,
        onReady: () => {
          ready += 1
          if (ready === config.readLanes) resolve(started)
        },
        onFailed: fail,
        onFatal: fail,
        onDeath: (kind, _row, reason) => fail(kind, reason),
      },
    )
  })
  const ask: Ask = (client) =>
    new Promise((resolve) => {
      waiting[client] = resolve
      pool.run([ticketOf(client)], () => undefined)
    })
  return { ask, pool }
}

function ticketOf(client: number): Ticket {
  const now = performance.now()
  return {
    operation,
    operationIndex,
    input: { form: 'json', head: '', params: [], mayCompress: false },
    principal: ANONYMOUS,
    client: undefined,
    surface: SURFACE,
    receivedAt: now,
    deadlineAt: now + operation.deadlineMs,
    limitMs: operation.deadlineMs,
    bodyBytes: 0,
    slot: client,
    generation: 1,
    queue: 'point',
    stream: 0,
    holdsAnswer: false,
    queuedAt: now,
    body: null,
    direct: false,
    batch: 1,
    onCommitted: null,
    sink: null,
    audit: null,
  }
}

async function measure(ask: Ask): Promise<{ readonly perSecond: number; readonly cpuUs: number }> {
  const cpuBefore = process.cpuUsage()
  const begun = performance.now()
  const end = begun + SECONDS * 1000
  let answered = 0
  const client = async (number: number): Promise<void> => {
    while (performance.now() < end) {
      await ask(number)
      answered++
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, number) => client(number)))
  const cpu = process.cpuUsage(cpuBefore)
  return { perSecond: (answered * 1000) / (performance.now() - begun), cpuUs: (cpu.user + cpu.system) / answered }
}

const report = new Report()
openDataDirectory(directory)
const lanes = await startLanes()
const single = await startOneByOne()
// The first round warms up.
for (const ask of [askDispatcher, single.ask]) await measure(ask)
const batched = await measure(askDispatcher)
const oneByOne = await measure(single.ask)
report.add({ what: 'drain batching', inFlight: IN_FLIGHT, ...batched })
report.add({ what: 'one task per request', inFlight: IN_FLIGHT, ...oneByOne })
const ratio = batched.perSecond / oneByOne.perSecond
report.add({ what: 'batching / one by one', inFlight: IN_FLIGHT, ratio })
report.table(['what', 'inFlight', 'perSecond', 'cpuUs', 'ratio'])
dispatcher.stop()
await single.pool.close()
await lanes.close()
rmSync(directory, { recursive: true, force: true })
if (ratio < RATIO_MIN) {
  console.error(`batching gives ${ratio.toFixed(2)} of one by one; at least ${RATIO_MIN} expected`)
  process.exitCode = 1
}
