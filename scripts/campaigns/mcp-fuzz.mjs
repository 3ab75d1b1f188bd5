/**
 * `npm run campaign -- mcp-fuzz [SECONDS=600]`: sends a server of MCP messages that are nearly right, over
 * streamable HTTP of both eras, /message and the plain paths. Messages are built from those of every method
 * and tool; then values are replaced, names are mistyped, and bytes are changed, left out, doubled.
 *
 * For each one: the server answers within ANSWER_MS_MAX, with a status and a body of the protocol, and with
 * no internal error; the server lives, keeps its sessions, and its memory stays bounded. Prints the seed;
 * `MDS_TEST_SEED=n` repeats a run.
 */
import { readFileSync } from 'node:fs'
import { CAPABILITIES_KEY, McpClient, META, REVISION, VERSION_KEY } from '../../dist/test/harness/clients/mcp_client.js'
import { Random, runSeed } from '../../dist/test/harness/random.js'
import { startServer } from '../../dist/test/harness/server/server.js'

const seconds = Number(process.argv[2] ?? 600)
const seed = runSeed()
const ANSWER_MS_MAX = 5_000
/** Of the server beyond its first minute. */
const GROWTH_MB_MAX = 200
const IN_FLIGHT = 8
const STATUSES = new Set([200, 202, 204, 400, 404, 405, 406, 413, 415, 431, 503])
const PATHS = ['/mcp', '/mcp', '/mcp', '/mcp', '/tools/call', '/resources/read', '/message?sessionId=0', '/mcp?api_key=x']

const random = new Random(seed)
console.log(`seed ${seed}, ${seconds} s`)
const pick = (list) => list[random.below(list.length)]

const server = await startServer({ env: { SVC_SPELL: 'true', SVC_MAX_CONN_IP: '10000' } })
let isEnding = false
const failures = []
void server.ended.then((code) => {
  if (isEnding) return
  console.error(`the server has ended with ${code}:\n${server.output().slice(-4_000)}`)
  process.exit(1)
})
await server.post('/v1/add', { collection: 'fuzz', key: 'k', lang: 'en', contentMd: '# A document\n\nwith words.' })

const client = new McpClient(server)
const { tools } = (await client.stateless('tools/list')).rpc.result
const { resources } = (await client.stateless('resources/list')).rpc.result
const { prompts } = (await client.stateless('prompts/list')).rpc.result
let session = await client.initialize('2025-03-26')

const ODD = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  1.5,
  '',
  'x',
  'fuzz',
  'k',
  'en',
  '\u0000',
  '\ud800',
  'ü'.repeat(50),
  [],
  [[]],
  {},
  { a: 1 },
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  Number.MAX_SAFE_INTEGER,
]
/** Tools that replace or copy the whole store, or empty it. */
const RARE = /backup|restore_backup|delete_collection/

function valueFor(schema) {
  if (random.below(4) === 0) return pick(ODD)
  switch (schema?.type) {
    case 'string':
      return schema.enum === undefined ? pick(['fuzz', 'k', 'en', 'words', 'document']) : pick(schema.enum)
    case 'integer':
    case 'number':
      return pick([0, 1, 5, 100])
    case 'boolean':
      return random.below(2) === 0
    case 'array':
      return Array.from({ length: random.below(4) }, () => valueFor(schema.items))
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? { category: {} }).map(([name, each]) => [name, valueFor(each)]))
    default:
      return pick(ODD)
  }
}

function argumentsFor({ inputSchema }) {
  const names = Object.keys(inputSchema.properties ?? {})
  const chosen = names.filter((name) => (inputSchema.required ?? []).includes(name) || random.below(3) === 0)
  return Object.fromEntries(chosen.map((name) => [name, valueFor(inputSchema.properties[name])]))
}

const METHODS = [
  () => ['tools/list', { cursor: pick([undefined, 'x', '']) }],
  () => ['resources/list', {}],
  () => ['resources/templates/list', {}],
  () => ['prompts/list', {}],
  () => ['ping', {}],
  () => ['server/discover', {}],
  () => ['subscriptions/listen', { notifications: pick([{}, { toolsListChanged: true }, 5]) }],
  () => ['initialize', { protocolVersion: pick(['2025-11-25', 'x', 3]) }],
  () => ['logging/setLevel', { level: pick(['debug', 'error', 'x']) }],
  () => ['notifications/cancelled', { requestId: pick([1, 'x', null]) }],
  () => [
    'resources/read',
    { uri: pick([...resources.map(({ uri }) => uri), 'mddb://fuzz/k?lang=en', 'mddb-search://fuzz?meta.a=b', 'x', 'mddb://%ff', '']) },
  ],
  () => ['prompts/get', { name: pick([...prompts.map(({ name }) => name), 'x']), arguments: pick([{}, { collection: 'fuzz' }, []]) }],
  () => [
    'completion/complete',
    { ref: pick([{ type: 'ref/prompt', name: 'x' }, {}, 5]), argument: pick([{ name: 'collection', value: 'f' }, 5]) },
  ],
]

function messageOf(isStateless) {
  let [method, params] = pick(METHODS)()
  if (random.below(3) > 0) {
    const tool = pick(tools.filter(({ name }) => !RARE.test(name)))
    method = 'tools/call'
    params = { name: tool.name, arguments: argumentsFor(tool) }
  }
  const meta = isStateless
    ? { _meta: random.below(8) === 0 ? { [VERSION_KEY]: pick(ODD), [CAPABILITIES_KEY]: pick(ODD) } : { ...META, progressToken: 1 } }
    : {}
  const message = { jsonrpc: '2.0', id: random.below(1_000_000), method, params: { ...params, ...meta } }
  if (method.startsWith('notifications/')) delete message.id
  if (random.below(20) === 0) message[pick(['id', 'method', 'params', 'jsonrpc'])] = pick(ODD)
  return message
}

function bytesOf(value) {
  const bytes = Buffer.from(JSON.stringify(value))
  if (random.below(3) > 0) return bytes
  const edits = 1 + random.below(4)
  let changed = bytes
  for (let n = 0; n < edits; n++) {
    const at = random.below(Math.max(1, changed.length))
    switch (random.below(4)) {
      case 0:
        changed = Buffer.from(changed)
        changed[at] = random.below(256)
        break
      case 1:
        changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + 1 + random.below(20))])
        break
      case 2:
        changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at, at + random.below(200)), changed.subarray(at)])
        break
      default:
        changed = Buffer.concat([
          changed.subarray(0, at),
          Buffer.from(pick(['[', '{', '"', '\\u0000', '[[[[[[[[', '__proto__', '1e999'])),
          changed.subarray(at),
        ])
    }
  }
  return changed
}

function headersFor(message, isStateless) {
  if (!isStateless) return { 'mcp-session-id': random.below(30) === 0 ? 'x' : session.session }
  const name = message.params?.name ?? message.params?.uri
  const coded = typeof name === 'string' ? `=?base64?${Buffer.from(name).toString('base64')}?=` : undefined
  const headers = {
    'mcp-protocol-version': REVISION,
    'mcp-method': String(message.method).replace(/[^\x20-\x7e]/g, '?'),
    'mcp-name': coded,
  }
  if (random.below(10) === 0) headers[pick(Object.keys(headers))] = pick([undefined, 'x', '=?base64?%?='])
  return headers
}

function faultOf({ status, rpc, all, text, headers }) {
  if (!STATUSES.has(status)) return `status ${status}`
  if (/"code":-32603\b/.test(text)) return 'an internal error'
  const type = String(headers['content-type'] ?? '')
  if (status === 202 || status === 204) return text === '' ? null : 'a body with 202'
  if (!type.startsWith('application/json') && !type.startsWith('text/event-stream'))
    return status === 431 || status === 400 ? null : `content type ${type}`
  const isPlain = rpc.jsonrpc === undefined && all.length === 1
  if (
    !isPlain &&
    all.some((each) => each.jsonrpc !== '2.0' || (each.method === undefined && each.result === undefined && each.error === undefined))
  )
    return 'no JSON-RPC'
  return null
}

function memoryMb() {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
}

const begun = performance.now()
const end = begun + seconds * 1000
let sent = 0
let firstMb = 0

async function work() {
  while (performance.now() < end && failures.length < 20) {
    const isStateless = random.below(2) === 0
    const path = pick(PATHS)
    const isBatch = random.below(25) === 0
    const message = isBatch ? Array.from({ length: random.below(6) }, () => messageOf(false)) : messageOf(isStateless)
    const value = path.startsWith('/tools') || path.startsWith('/resources') ? (message.params ?? message) : message
    const body = bytesOf(value)
    const method = random.below(40) === 0 ? pick(['GET', 'PUT', 'OPTIONS', 'HEAD']) : 'POST'
    const headers = headersFor(isBatch ? {} : message, isStateless && !isBatch)
    const askedAt = performance.now()
    sent += 1
    try {
      // A stream that is opened by GET has no end.
      const answer = await Promise.race([
        client.send(method, method === 'GET' ? '/tools' : path, method === 'GET' || method === 'HEAD' ? undefined : body, headers),
        new Promise((_, reject) => setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS_MAX} ms`)), ANSWER_MS_MAX).unref()),
      ])
      const fault = method === 'HEAD' || method === 'OPTIONS' ? null : faultOf(answer)
      if (fault !== null)
        failures.push(
          `${fault}: ${method} ${path} ${JSON.stringify(headers)} ${body.toString('latin1').slice(0, 1_000)} -> ${answer.status} ${answer.text.slice(0, 500)}`,
        )
    } catch (error) {
      failures.push(
        `${error.message} after ${Math.round(performance.now() - askedAt)} ms: ${method} ${path} ${JSON.stringify(headers)} ${body.toString('latin1').slice(0, 1_000)}`,
      )
    }
    if (sent % 5_000 === 0) {
      if ((await session.ask('ping')).status !== 200) session = await client.initialize('2025-03-26')
      const mb = memoryMb()
      if (firstMb === 0 && performance.now() - begun > Math.min(60_000, (seconds * 1000) / 3)) firstMb = mb
      console.log(`${sent} messages, ${Math.round(mb)} MB`)
    }
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, work))
const grown = firstMb === 0 ? 0 : memoryMb() - firstMb
if (grown > GROWTH_MB_MAX) failures.push(`memory grew by ${Math.round(grown)} MB`)
isEnding = true
await server.stop()
console.log(`${sent} messages, ${failures.length} failures, memory ${grown > 0 ? '+' : ''}${Math.round(grown)} MB`)
for (const line of failures) console.log(line)
process.exit(failures.length === 0 ? 0 : 1)
