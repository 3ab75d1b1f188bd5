/**
 * `npm run campaign -- grpc-fuzz [seconds]`: sends mutated messages and frames of gRPC to a server, for the
 * given number of seconds (default 600), by HTTP/2 without a library of gRPC. Messages are made by the
 * descriptors of the proto for every RPC, then changed byte by byte, cut, repeated or nested; the prefix of
 * their frame may lie about length and compression.
 *
 * Each call must end with a status of gRPC that is neither INTERNAL nor UNKNOWN, or its stream must be reset.
 * After each round the server must answer a document as before, and its memory must stay within a bound.
 * Needs a build with tests. Prints the seed; `MDS_SEED=n` repeats a run.
 */
import { readFileSync } from 'node:fs'
import { connect, constants } from 'node:http2'
import protobuf from 'protobufjs'
import { methodsOf, REPLICATION_SERVICE, SERVICE } from '../../dist/src/surface/grpc/proto.js'
import { startServer } from '../../dist/test/harness/server/server.js'
import { randomFrom, seedOfRun } from '../lib/random.mjs'

const seconds = Number(process.argv[2] ?? 600)
const ROUND_CALLS = 200
/** No call of this campaign has work for so long. */
const CALL_MS_MAX = 60_000
const RSS_GROWTH_BYTES_MAX = 1024 ** 3
const DEPTH_MAX = 3
/** Statuses that say that the server met what it did not expect. */
const FAULTS = new Map([
  ['2', 'UNKNOWN'],
  ['13', 'INTERNAL'],
])
/** Each of these copies or replaces the whole store. */
const NEVER = new Set(['Backup', 'Restore'])

const seed = seedOfRun()
const below = randomFrom(seed)
const oneOf = (values) => values[below(values.length)]

const TEXTS = [
  '',
  'c',
  'kept',
  'en',
  'one',
  'a|b',
  '\0',
  '😀',
  'é'.repeat(300),
  '../x',
  'key,updatedAt',
  '{"type":"object"}',
  '__proto__',
  '%%x%%',
]
const NUMBERS = [0, 1, 2, 7, -1, 100, 2 ** 31 - 1, -(2 ** 31)]
const REALS = [0, 0.5, -1, 1e308, Number.NaN, Number.POSITIVE_INFINITY, 90, 181]

function valueOf(field, depth) {
  if (field.resolvedType instanceof protobuf.Type) return depth === 0 ? {} : messageOf(field.resolvedType, depth - 1)
  if (field.type === 'string') return oneOf(TEXTS)
  if (field.type === 'bool') return below(2) === 1
  if (field.type === 'bytes') return Buffer.alloc(below(20), below(256))
  return field.type === 'double' || field.type === 'float' ? oneOf(REALS) : oneOf(NUMBERS)
}

function messageOf(type, depth = DEPTH_MAX) {
  const message = {}
  for (const field of type.fieldsArray) {
    if (below(4) === 0) continue
    if (field.map) message[field.name] = Object.fromEntries([...Array(below(3))].map(() => [oneOf(TEXTS), valueOf(field, depth)]))
    else if (field.repeated) message[field.name] = [...Array(below(4))].map(() => valueOf(field, depth))
    else message[field.name] = valueOf(field, depth)
  }
  return message
}

function mutated(bytes) {
  let changed = Buffer.from(bytes)
  for (let changes = below(4); changes > 0; changes--) {
    const at = below(changed.length + 1)
    const kind = below(6)
    if (kind === 0 && changed.length > 0) changed[at % changed.length] = below(256)
    else if (kind === 1) changed = changed.subarray(0, at)
    else if (kind === 2) changed = Buffer.concat([changed, changed.subarray(0, at)])
    else if (kind === 3)
      changed = Buffer.concat([changed.subarray(0, at), Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), changed.subarray(at)])
    else if (kind === 4) changed = Buffer.concat([changed.subarray(0, at), Buffer.alloc(below(64), 0x0a), changed.subarray(at)])
    else changed = nested(changed)
  }
  return changed
}

/** The bytes as a field of a field of a field. */
function nested(bytes) {
  let inner = bytes.subarray(0, 1000)
  for (let depth = below(200); depth > 0; depth--) {
    const writer = protobuf.Writer.create()
    inner = Buffer.from(
      writer
        .uint32(((1 + below(8)) << 3) | 2)
        .bytes(inner)
        .finish(),
    )
  }
  return inner
}

function framed(message) {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  const kind = below(20)
  if (kind === 0) prefix[0] = below(256)
  if (kind === 1) prefix.writeUInt32BE(below(2 ** 31), 1)
  if (kind === 2) return Buffer.concat([prefix, message, prefix, message])
  return kind === 3 ? prefix.subarray(0, below(5)) : Buffer.concat([prefix, message])
}

/** @returns `grpc-status`, or what has ended the stream instead */
function call(session, path, body) {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      'grpc-timeout': '5S',
    })
    let status
    let text
    const note = (headers) => {
      status ??= headers['grpc-status']
      text ??= headers['grpc-message']
    }
    stream.setTimeout(CALL_MS_MAX, () => {
      status = 'HUNG'
      stream.close(constants.NGHTTP2_CANCEL)
    })
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('error', () => {})
    stream.on('close', () => resolve({ status: status ?? `reset ${stream.rstCode}`, text }))
    stream.resume()
    stream.end(body)
  })
}

const statusFile = (pid) => readFileSync(`/proc/${pid}/status`, 'utf8')
const rssOf = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(statusFile(pid))?.[1]) * 1024

console.log(`gRPC: seed ${seed}`)
const server = await startServer({ env: { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' } })
await server.post('/v1/add', { collection: 'untouched', key: 'one', lang: 'en', contentMd: 'a kingfisher' })
const methods = [SERVICE, REPLICATION_SERVICE]
  .flatMap((service) => methodsOf(service).map((method) => ({ ...method, path: `/${service}/${method.name}` })))
  .filter(({ name }) => !NEVER.has(name))
const address = server.addressOf('grpc').replace(/^:/, '127.0.0.1:')
const failures = []
const statuses = new Map()
const end = performance.now() + seconds * 1000
let calls = 0
let firstRss = 0
while (performance.now() < end && failures.length === 0) {
  const session = connect(`http://${address}`)
  session.on('error', () => {})
  const round = [...Array(ROUND_CALLS)].map(() => {
    const method = oneOf(methods)
    return { method, body: framed(mutated(method.request.encode(messageOf(method.request)).finish())) }
  })
  const outcomes = []
  // Several at a time, as clients do. A stream that the server resets must not take the others with it.
  for (let at = 0; at < round.length; at += 20)
    outcomes.push(...(await Promise.all(round.slice(at, at + 20).map(({ method, body }) => call(session, method.path, body)))))
  session.destroy()
  for (const [at, { status, text }] of outcomes.entries()) {
    const { method, body } = round[at]
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const fault = FAULTS.get(status) ?? (status === 'HUNG' ? status : undefined)
    if (fault !== undefined) failures.push(`${method.path}: ${fault} ${text}: ${body.subarray(0, 2000).toString('base64')}`)
  }
  calls += round.length
  const found = await server.post('/v1/get', { collection: 'untouched', key: 'one', lang: 'en' })
  if (found.status !== 200 || !found.text.includes('a kingfisher')) failures.push(`a document is answered ${found.status} ${found.text}`)
  const rss = rssOf(server.pid)
  firstRss ||= rss
  if (rss > firstRss + RSS_GROWTH_BYTES_MAX) failures.push(`the server grew from ${firstRss} to ${rss} bytes`)
}
await server.stop()
if (failures.length > 0) console.error(server.output().slice(-4_000))
for (const failure of failures) console.error(failure)
console.log(
  JSON.stringify({ calls, methods: methods.length, statuses: Object.fromEntries([...statuses].sort()), failures: failures.length }),
)
process.exit(failures.length === 0 ? 0 : 1)
