/** The metrics page: its contents, and that a Prometheus server can parse it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHORE_NAMES, CHORE_STATES } from '../../../src/chore_list.js'
import { operationByName, operations } from '../../../src/operations/index.js'
import type { StoreGauges } from '../../../src/telemetry/exposition.js'
import { METRIC_COLLECTIONS_MAX, renderMetrics } from '../../../src/telemetry/exposition.js'
import { Telemetry } from '../../../src/telemetry/registry.js'

const NAMES = operations.map(({ name }) => name)
const GAUGES: StoreGauges = {
  mode: 'wr',
  uptimeSeconds: 12.5,
  databaseBytes: 4096,
  readers: 2,
  oldestReaderAge: 3,
  binlogEntries: 7,
  consumerLags: [['revision-packing', 3] as const],
  binlogBytes: 700,
  schemas: 3,
  webhooks: 2,
  lastLsn: 9_007_199_254_740_993n,
  vectors: { documents: 2, isIndexReady: true, queued: 3 },
  showsNames: true,
  collections: [{ name: 'a"b\\c\nd', documents: 5, revisions: 6, metaTriples: 7 }],
  engine: {
    isa: 'avx2',
    segments: 1,
    documents: 5,
    deadDocuments: 0,
    terms: 100,
    memoryBytes: 2048,
    merges: 4,
    lastLsn: 9n,
    storedSegments: 1,
    storedBytes: 4096,
    indexFileBytes: 9000,
    indexLiveBytes: 8000,
    checkpoint: 8n,
    unflushedBytes: 10,
    flushes: 3,
    storageFailures: 0,
  },
  residentBytes: 1_000_000,
  cpuSeconds: 1.25,
}

function used(): Telemetry {
  const telemetry = Telemetry.create(NAMES)
  telemetry.claimRow()
  return telemetry
}

/** Parses the page by the format's rules; throws on a line that violates them. */
function parse(page: string): Map<string, number> {
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  assert.ok(page.endsWith('\n'))
  for (const line of page.slice(0, -1).split('\n')) {
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/.exec(line)
    if (type !== null) {
      assert.ok(!types.has(type[1] ?? ''), `${line} twice`)
      types.set(type[1] ?? '', type[2] ?? '')
      continue
    }
    if (/^# HELP [a-zA-Z_:][a-zA-Z0-9_:]* .+$/.test(line)) continue
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{(?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+\})?) (\S+)$/.exec(line)
    assert.ok(sample, `not a sample: ${line}`)
    const [, name = '', labels = '', value = ''] = sample
    assert.ok(types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram', `${name} has no type`)
    assert.ok(!samples.has(name + labels), `${name}${labels} twice`)
    assert.ok(!Number.isNaN(Number(value)), line)
    samples.set(name + labels, Number(value))
  }
  return samples
}

describe('the metrics page', () => {
  it('metrics: the page is valid Prometheus text, also with quotes and line breaks in a collection name', () => {
    const samples = parse(renderMetrics(used().read(), GAUGES, operationByName))
    const counted = ['documents', 'revisions', 'meta_indices'].map((what) => samples.get(`mddb_${what}_total{collection="a\\"b\\\\c\\nd"}`))
    assert.deepEqual(counted, [5, 6, 7])
  })

  it('metrics: request counters carry method, path and status, unknown paths are /other', () => {
    const telemetry = used()
    telemetry.countRequest(NAMES.indexOf('add'), 200, 0.002)
    telemetry.countRequest(NAMES.indexOf('add'), 400, 0.002)
    telemetry.countRequest(-1, 404, 0.002)
    const samples = parse(renderMetrics(telemetry.read(), GAUGES, operationByName))
    assert.equal(samples.get('mddb_http_requests_total{method="POST",path="/v1/add",status="200"}'), 1)
    assert.equal(samples.get('mddb_http_requests_total{method="POST",path="/v1/add",status="400"}'), 1)
    assert.equal(samples.get('mddb_http_requests_total{method="other",path="/other",status="404"}'), 1)
  })

  it('metrics: latency histograms are cumulative over the buckets of the contract', () => {
    const telemetry = used()
    for (const seconds of [0.0005, 0.003, 0.003, 99]) telemetry.countRequest(NAMES.indexOf('get'), 200, seconds)
    const samples = parse(renderMetrics(telemetry.read(), GAUGES, operationByName))
    const bucket = (le: string): number | undefined =>
      samples.get(`mddb_http_request_duration_seconds_bucket{method="POST",path="/v1/get",le="${le}"}`)
    for (const le of ['0.001', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '+Inf'])
      assert.notEqual(bucket(le), undefined, le)
    assert.deepEqual([bucket('0.001'), bucket('0.005'), bucket('10'), bucket('+Inf')], [1, 3, 3, 4])
    assert.equal(samples.get('mddb_http_request_duration_seconds_count{method="POST",path="/v1/get"}'), 4)
  })

  it('metrics: lane depths and waits, store sizes, oldest reader age, engine ISA and wasm memory are there', () => {
    const telemetry = used()
    telemetry.setQueue('search', 4, 2)
    telemetry.observeWait('search', 0.0004)
    telemetry.observeBatch('search', 3)
    telemetry.set('wasm_memory_bytes', 65_536)
    const samples = parse(renderMetrics(telemetry.read(), GAUGES, operationByName))
    assert.equal(samples.get('mddb_lane_queue_depth{queue="search"}'), 4)
    assert.equal(samples.get('mddb_lane_in_flight{queue="search"}'), 2)
    assert.equal(samples.get('mddb_lane_wait_seconds_count{queue="search"}'), 1)
    assert.equal(samples.get('mddb_lane_batch_size_sum{queue="search"}'), 3)
    assert.equal(samples.get('mddb_database_size_bytes'), 4096)
    assert.equal(samples.get('mddb_database_oldest_reader_age'), 3)
    assert.equal(samples.get('mddb_binlog_size_bytes'), 700)
    assert.equal(samples.get('mddb_replication_lsn'), Number(9_007_199_254_740_993n))
    assert.equal(samples.get('mddb_binlog_consumers_lost_total'), 0)
    assert.equal(samples.get('mddb_engine_info{isa="avx2"}'), 1)
    assert.equal(samples.get('mddb_wasm_memory_bytes'), 65_536)
    assert.equal(samples.get('mddb_info{mode="wr"}'), 1)
    assert.equal(samples.get('mddb_uptime_seconds'), 12.5)
    assert.equal(samples.get('process_resident_memory_bytes'), 1_000_000)
  })

  it('metrics: every chore of the list has rounds, failures, the time of its last round and its state', () => {
    const telemetry = used()
    telemetry.countRound('expiry', 0.25, false)
    telemetry.countRound('expiry', 0.5, true)
    telemetry.setChoreState('expiry', 'retrying')
    const samples = parse(renderMetrics(telemetry.read(), GAUGES, operationByName))
    const ofExpiry = ['rounds_total', 'failures_total', 'last_duration_seconds', 'state'].map(
      (name) => `mddb_chore_${name}{chore="expiry"}`,
    )
    assert.deepEqual(ofExpiry.map((name) => samples.get(name)), [2, 1, 0.5, CHORE_STATES.indexOf('retrying')]) // prettier-ignore
    for (const chore of CHORE_NAMES) assert.notEqual(samples.get(`mddb_chore_state{chore="${chore}"}`), undefined, chore)
    telemetry.releaseRow(telemetry.row)
    const after = parse(renderMetrics(telemetry.read(), GAUGES, operationByName))
    assert.deepEqual(ofExpiry.map((name) => after.get(name)), [2, 1, 0, 0]) // prettier-ignore
  })

  it('metrics: collections beyond the bound are summed in one line', () => {
    const collections = Array.from({ length: METRIC_COLLECTIONS_MAX + 3 }, (_, at) => ({
      name: `c${at}`,
      documents: 2,
      revisions: 0,
      metaTriples: 0,
    }))
    const samples = parse(renderMetrics(used().read(), { ...GAUGES, collections }, operationByName))
    assert.equal([...samples.keys()].filter((name) => name.startsWith('mddb_documents_total')).length, METRIC_COLLECTIONS_MAX + 1)
    assert.equal(samples.get('mddb_documents_total{collection="/other"}'), 6)
  })
})
