/**
 * The proto of gRPC and its descriptor. The contract's part of mddb.proto is kept byte for byte; what the
 * rows say beyond it (`grpc` among the facts of a field, an RPC that the contract lacks) is written anew.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { projectRoot } from '../lib/root.mjs'
import { commentLines } from './text.mjs'

const FOLDER = 'src/surface/grpc/proto'
const OWN_RPC = '  // An addition of this server.'
const OWN_MESSAGES = '// ---- Additions of this server'
/** Numbers below are the contract's. docs/decisions/interfaces/grpc.md */
const FIRST_OWN_NUMBER = 100
/** Names of fields whose member in JSON is not their name in camel case, as in request_input.ts. */
const MEMBERS = { source_doc_id: 'sourceDocID', use_tls: 'useTLS' }
const SCALARS = { string: 'string', integer: 'int32', number: 'double', boolean: 'bool' }

export function proto({ operations, factsOf }) {
  const contract = contractOf(readFileSync(join(projectRoot, FOLDER, 'mddb.proto'), 'utf8'))
  const additions = new Additions(protobuf.parse(contract, { keepCase: true }).root.lookup('mddb'), factsOf)
  additions.ofRows(operations.filter(({ protocols }) => protocols.grpc !== null))
  const text = withAdditions(contract, additions)
  return { [`${FOLDER}/mddb.proto`]: text, [`${FOLDER}/mddb.binpb`]: descriptorOf(text) }
}

/** The text without what an earlier run has added. */
function contractOf(text) {
  const kept = []
  for (const line of text.split(`\n${OWN_MESSAGES}`)[0].trimEnd().split('\n')) {
    const isOwnField = Number(/^ {2}[\w<>, .]+ = (\d+);$/.exec(line)?.[1] ?? 0) >= FIRST_OWN_NUMBER
    const isOwnRpc = line.startsWith('  rpc ') && kept.at(-1) === OWN_RPC
    if (!isOwnField && !isOwnRpc) kept.push(line)
    else while (kept.at(-1).startsWith('  //')) kept.pop()
  }
  return `${kept.join('\n')}\n`
}

class Additions {
  /** Message of the contract -> its further fields by number. */
  fields = new Map()
  /** Our own messages, in the order of their first use. */
  messages = new Map()
  rpcs = []
  /** Objects of the rows, with the names of the fields whose facts were used. */
  #used = new Map()
  /** Of all fields of the rows: what a comment may name. */
  #names = new Set()
  #contract
  #factsOf

  constructor(contract, factsOf) {
    this.#contract = contract
    this.#factsOf = factsOf
  }

  /** @throws Error for a number that no message has a place for */
  ofRows(rows) {
    for (const row of rows) for (const root of [row.input, row.output]) for (const name of namesBelow(root)) this.#names.add(name)
    for (const row of rows) this.#ofRow(row)
    for (const row of rows)
      for (const [schema, field] of [row.input, row.output].flatMap((root) => [...numbered(root, this.#factsOf)]))
        if (!this.#used.get(schema)?.has(field)) throw new Error(`${row.name}: no message of its RPC has the place of ${field}`)
  }

  #ofRow({ name, description, protocols: { grpc }, input, output, comesInParts }) {
    const method = this.#contract.lookup('MDDB').methods[grpc]
    if (method !== undefined) {
      this.#walk(this.#contract.get(method.requestType), input)
      this.#walkAnswer(this.#contract.get(method.responseType), output)
      return
    }
    if (comesInParts) throw new Error(`${name}: an RPC of our own answers in one message`)
    this.rpcs.push([grpc, `${description.replace(/\.$/, '')}.`])
    this.#declare(`${grpc}Request`, input)
    this.#declare(`${grpc}Response`, output)
  }

  /** A bare list over HTTP is the one list of a message. */
  #walkAnswer(message, output) {
    const item = output.type === 'array' ? Object.values(message.fields).find(({ repeated }) => repeated) : undefined
    if (item === undefined) this.#walk(message, output)
    else this.#walk(this.#contract.get(item.type), output.items)
  }

  /** Finds the further fields of a message of the contract, by the names of those that it has. */
  #walk(message, schema) {
    const facts = this.#factsOf(schema)
    for (const [name, value] of Object.entries(schema.properties ?? {})) {
      const known = Object.values(message.fields).find((field) => field.name === name || memberOf(field.name) === name)
      const { grpc, grpcAs = value } = facts[name] ?? {}
      if (known !== undefined && grpc !== undefined) throw new Error(`${message.name}.${name} has a number in the contract`)
      if (known !== undefined) {
        const type = this.#contract.get(known.type)
        if (type !== null) this.#walk(type, itemOf(grpcAs))
      } else if (grpc !== undefined) {
        this.#use(schema, name)
        const added = this.#fieldOf(`${message.name}.${name}`, name, value, grpc)
        if (added.number < FIRST_OWN_NUMBER) throw new Error(`${message.name}.${name}: its number is below ${FIRST_OWN_NUMBER}`)
        put(this.fields, message.name, added)
      }
    }
  }

  #declare(message, schema) {
    if (this.#contract.get(message) !== null) throw new Error(`${message} is a message of the contract`)
    if (!this.messages.has(message)) this.messages.set(message, new Map())
    const facts = this.#factsOf(schema)
    for (const [name, value] of Object.entries(schema.properties ?? {})) {
      const { grpc, grpcAs = value } = facts[name] ?? {}
      if (grpc === undefined) throw new Error(`${message}.${name} needs a number (\`grpc\` of the field)`)
      this.#use(schema, name)
      put(this.messages, message, this.#fieldOf(`${message}.${name}`, name, grpcAs, grpc))
    }
  }

  #use(schema, field) {
    if (!this.#used.has(schema)) this.#used.set(schema, new Set())
    this.#used.get(schema).add(field)
  }

  #fieldOf(place, member, schema, fact) {
    const { number, name = snakeCase(member), message, hasPresence = false } = typeof fact === 'number' ? { number: fact } : fact
    const label = hasPresence ? 'optional ' : ''
    const comment = schema.description?.replaceAll(/`(\w+)`/g, (quoted, each) =>
      this.#names.has(each) ? `\`${snakeCase(each)}\`` : quoted,
    )
    return { number, declaration: `${label}${this.#typeOf(place, schema, message)} ${name} = ${number};`, comment }
  }

  #typeOf(place, schema, message) {
    if (schema.type === 'array') return `repeated ${this.#typeOf(place, schema.items, message)}`
    if (schema.type !== 'object') return SCALARS[schema.type] ?? fail(`${place}: no type of the proto for ${schema.type}`)
    if (schema.properties !== undefined) {
      const name = message ?? schema.title ?? fail(`${place}: its message needs a name (\`grpc.message\`)`)
      const known = this.#contract.get(name)
      if (known === null) this.#declare(name, schema)
      else this.#walk(known, schema)
      return name
    }
    const values = schema.additionalProperties ?? {}
    // A map can't have lists as values: those of metadata have a message of the contract.
    if (values.type === 'array' && values.items.type === 'string') return 'map<string, MetaValues>'
    // Any JSON: as text.
    return Object.keys(values).length === 0 ? 'string' : `map<string, ${this.#typeOf(place, values, message)}>`
  }
}

function* namesBelow(schema) {
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    yield name
    yield* namesBelow(value)
  }
  for (const inner of innerOf(schema)) yield* namesBelow(inner)
}

function innerOf({ items, additionalProperties, anyOf = [] }) {
  return [items, additionalProperties, ...anyOf].filter((inner) => inner !== undefined)
}

/** Every field with a number below a schema: its object and its name. */
function* numbered(schema, factsOf) {
  const facts = factsOf(schema)
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    if (facts[name]?.grpc !== undefined) yield [schema, name]
    yield* numbered(facts[name]?.grpcAs ?? value, factsOf)
  }
  for (const inner of innerOf(schema)) yield* numbered(inner, factsOf)
}

/** The same field may be met on several ways, and must be the same on all. */
function put(messages, message, field) {
  if (!messages.has(message)) messages.set(message, new Map())
  const fields = messages.get(message)
  const known = fields.get(field.number)
  if (known !== undefined && known.declaration !== field.declaration)
    throw new Error(`${message}: two fields have one number: ${known.declaration} ${field.declaration}`)
  if (known === undefined) fields.set(field.number, field)
}

function itemOf(schema) {
  return schema.items ?? schema.additionalProperties ?? schema
}

function memberOf(name) {
  return MEMBERS[name] ?? name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase())
}

function snakeCase(name) {
  return name.replaceAll(/([a-z0-9])([A-Z]+)/g, (_, before, capitals) => `${before}_${capitals.toLowerCase()}`)
}

function fail(text) {
  throw new Error(text)
}

function withAdditions(contract, { fields, messages, rpcs }) {
  let text = contract
  const end = /^(service MDDB \{\n[\s\S]*?)^\}/m
  const declared = rpcs.map(
    ([name, comment]) => `${commentLines(comment, '  // ')}${OWN_RPC}\n  rpc ${name}(${name}Request) returns (${name}Response);\n`,
  )
  text = replaced(text, end, (_, body) => `${body}${declared.join('')}}`)
  for (const [name, added] of fields)
    text = replaced(text, new RegExp(`^(message ${name} \\{)(\\}|\\n[\\s\\S]*?^\\})`, 'm'), (_, head, rest) => {
      const body = rest === '}' ? '\n' : rest.slice(0, -1)
      return `${head}${body}${linesOf(added)}}`
    })
  const own = [...messages].map(([name, its]) => (its.size === 0 ? `message ${name} {}\n` : `message ${name} {\n${linesOf(its)}}\n`))
  return own.length === 0 ? text : `${text}\n${OWN_MESSAGES}\n\n${own.join('\n')}`
}

function replaced(text, pattern, by) {
  if (!pattern.test(text)) throw new Error(`the proto has no ${pattern}`)
  return text.replace(pattern, by)
}

function linesOf(fields) {
  const sorted = [...fields.values()].sort((a, b) => a.number - b.number)
  return sorted.map(({ declaration, comment }) => `${commentLines(comment, '  // ')}  ${declaration}\n`).join('')
}

/** As the compiler of protobuf writes it: clients in Go refuse the descriptors that protobufjs makes. */
function descriptorOf(text) {
  const folder = mkdtempSync(join(tmpdir(), 'mds-proto-'))
  try {
    writeFileSync(join(folder, 'mddb.proto'), text)
    writeFileSync(join(folder, 'buf.yaml'), readFileSync(join(projectRoot, FOLDER, 'buf.yaml')))
    const args = ['build', '--exclude-source-info', '--as-file-descriptor-set', '-o', 'mddb.binpb']
    execFileSync(join(projectRoot, 'node_modules', '.bin', 'buf'), args, { cwd: folder })
    return readFileSync(join(folder, 'mddb.binpb'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
