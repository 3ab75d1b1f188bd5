/**
 * The committed proto against the wire contract (test/golden/grpc_messages.json): names, numbers and types of
 * every message and RPC. What the server adds has numbers that the contract will not use.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import protobuf from 'protobufjs'
import { projectFolder } from '../../../src/base/installation.js'
import { operations } from '../../../src/operations/index.js'
import { DESCRIPTOR_PATH, methodsOf, PROTO_PATH, REPLICATION_SERVICE, SERVICE } from '../../../src/surface/grpc/proto.js'

type Field = readonly [name: string, number: number, type: string]
type Rpc = readonly [name: string, request: string, isStream: boolean, response: string]

interface Contract {
  readonly services: Readonly<Record<string, readonly Rpc[]>>
  readonly messages: Readonly<Record<string, readonly Field[]>>
}

const FIRST_OWN_NUMBER = 100
const contract = JSON.parse(readFileSync(join(projectFolder(), 'test/golden/grpc_messages.json'), 'utf8')) as Contract
const text = readFileSync(PROTO_PATH, 'utf8')
const parsed = protobuf.parse(text, { keepCase: true })
const service = parsed.root.lookup('mddb') as protobuf.Namespace
const messages = new Map(service.nestedArray.filter((each) => each instanceof protobuf.Type).map((type) => [type.name, type]))

const contractRpcs = new Set(Object.values(contract.services).flatMap((rpcs) => rpcs.map(([name]) => name)))

function fieldsOf(name: string): readonly Field[] {
  return Object.values(messages.get(name)?.fields ?? {}).map((field) => [field.name, field.id, typeOf(field)])
}

function typeOf(field: protobuf.Field): string {
  if (field instanceof protobuf.MapField) return `map<${field.keyType}, ${field.type}>`
  const label = field.repeated ? 'repeated ' : hasPresence(field) ? 'optional ' : ''
  return `${label}${field.type}`
}

function hasPresence(field: protobuf.Field): boolean {
  return field.options?.['proto3_optional'] === true
}

const isOwn = ([, number]: Field): boolean => number >= FIRST_OWN_NUMBER

describe('the proto of gRPC', () => {
  it('grpc: the proto is proto3 of package mddb with the services of the contract, no enum and no oneof', () => {
    assert.match(text, /^syntax = "proto3";$/m)
    assert.equal(parsed.package, 'mddb')
    assert.equal(service.options?.['go_package'] ?? parsed.root.options?.['go_package'], 'mddb/proto')
    const services = service.nestedArray.filter((each) => each instanceof protobuf.Service).map(({ name }) => name)
    assert.deepEqual(services, Object.keys(contract.services))
    assert.deepEqual(services.map((name) => `mddb.${name}`), [SERVICE, REPLICATION_SERVICE]) // prettier-ignore
    assert.equal(messages.size + services.length, service.nestedArray.length, 'only messages and services')
    for (const type of messages.values()) assert.deepEqual(type.nestedArray, [], type.name)
    assert.doesNotMatch(text, /^\s*(?:enum|oneof|extensions|reserved|group)\b/m)
  })

  it('grpc: the proto has every message of the contract, with the names, numbers and types of its fields', () => {
    for (const [name, fields] of Object.entries(contract.messages)) {
      assert.ok(messages.has(name), name)
      assert.deepEqual(fieldsOf(name).filter((field) => !isOwn(field)), fields, name) // prettier-ignore
    }
  })

  it('grpc: the proto has every RPC of the contract, with its messages and its stream', () => {
    for (const [name, rpcs] of Object.entries(contract.services)) {
      const methods = methodsOf(`mddb.${name}`).filter((method) => contractRpcs.has(method.name))
      const found = methods.map((method) => [method.name, method.request.name, method.isStream, method.response.name])
      assert.deepEqual(found, rpcs)
      const declared = Object.values((service.lookup(name) as protobuf.Service).methods)
      assert.deepEqual(declared.filter(({ requestStream }) => requestStream === true), []) // prettier-ignore
    }
  })

  it('grpc: what this server adds to messages of the contract has numbers from 100 up', () => {
    for (const [name, fields] of Object.entries(contract.messages)) {
      assert.ok(!fields.some(isOwn), name)
      const added = fieldsOf(name).filter(([field]) => !fields.some(([each]) => each === field))
      assert.deepEqual(added.filter((field) => !isOwn(field)), [], name) // prettier-ignore
    }
    const [, own = ''] = text.split('// ---- Additions of this server')
    for (const name of messages.keys()) assert.equal(own.includes(`message ${name} {`), !(name in contract.messages), name)
    const named = new Set(operations.map(({ protocols }) => protocols.grpc))
    for (const { name } of methodsOf(SERVICE)) assert.ok(contractRpcs.has(name) || named.has(name), name)
  })

  it('grpc: the configuration of a collection has the later fields from 100 up, with presence, and no number of the contract again', () => {
    const later = [
      ['storage_backend', 100, 'optional string'],
      ['storage_config', 101, 'optional StorageConfigProto'],
      ['quantization', 102, 'optional string'],
      ['disk_only_vectors', 103, 'optional bool'],
      ['encrypted', 104, 'optional bool'],
      ['track_access', 105, 'optional bool'],
      ['track_hot', 106, 'optional bool'],
      ['spell_correct', 107, 'optional bool'],
      ['spell_lang', 108, 'optional string'],
      ['wordpress', 109, 'optional CmsConfigProto'],
    ]
    for (const name of ['CollectionConfigProto', 'SetCollectionConfigRequest'])
      assert.deepEqual(fieldsOf(name), [...contract.messages[name]!, ...later], name)
  })

  it('grpc: names of fields are in snake case and names of RPCs in Pascal case', () => {
    for (const type of messages.values())
      for (const name of Object.keys(type.fields)) assert.match(name, /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/, type.name)
    for (const { name } of [...methodsOf(SERVICE), ...methodsOf(REPLICATION_SERVICE)]) assert.match(name, /^[A-Z][A-Za-z]+$/)
  })

  it('grpc: batches of deletions and updates have the newest numbers, not those of 2.2', () => {
    for (const [name, first] of [['DeleteBatchResponse', 'deleted'], ['UpdateBatchResponse', 'updated']] as const) // prettier-ignore
      assert.deepEqual(fieldsOf(name).map(([field, number]) => [field, number]), [[first, 1], ['not_found', 2], ['failed', 3], ['errors', 4]]) // prettier-ignore
  })

  it('grpc: every name of an RPC in the table of operations is an RPC, and no two operations have the same', () => {
    const rpcs = new Set(methodsOf(SERVICE).map(({ name }) => name))
    const named = operations.flatMap(({ protocols }) => (protocols.grpc === null ? [] : [protocols.grpc]))
    for (const name of named) assert.ok(rpcs.has(name), name)
    assert.equal(new Set(named).size, named.length)
  })
})

describe('buf', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mds-buf-'))
    writeFileSync(join(folder, 'buf.yaml'), readFileSync(join(dirname(PROTO_PATH), 'buf.yaml')))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** @returns the report; empty: it passes */
  function buf(proto: string, ...args: readonly string[]): string {
    writeFileSync(join(folder, 'mddb.proto'), proto)
    const program = join(projectFolder(), 'node_modules/.bin/buf')
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
    assert.equal(status === 0, `${stdout}${stderr}` === '', `${stdout}${stderr}`)
    return `${stdout}${stderr}`
  }

  it('grpc: the descriptor that reflection gives is that of the proto', () => {
    assert.equal(buf(text, 'build', '--exclude-source-info', '--as-file-descriptor-set', '-o', 'built.binpb'), '')
    assert.deepEqual(
      readFileSync(join(folder, 'built.binpb')),
      readFileSync(DESCRIPTOR_PATH),
      'docs/decisions/interfaces/grpc.md says how it is made',
    )
  })

  it('grpc: the proto passes the linter, and a change of it that breaks clients does not pass', () => {
    const against = ['breaking', '--against', join(projectFolder(), 'test/golden/grpc_baseline.binpb')]
    assert.equal(buf(text, 'lint'), '')
    assert.equal(buf(text, ...against), '')
    assert.match(buf(text.replace('string content_md = 5;', 'string contentMd = 5;'), 'lint'), /lower_snake_case/)
    const broken: readonly (readonly [find: string, replace: string, report: RegExp])[] = [
      ['int64 expires_at = 8;', 'int64 expires_at = 9;', /field "8"/],
      ['int64 expires_at = 8;', 'int32 expires_at = 8;', /changed type/],
      ['int64 expires_at = 8;', '', /was deleted/],
      ['rpc Get(GetRequest) returns (Document);', '', /RPC "Get"/],
      ['stream ExportChunk', 'ExportChunk', /server streaming/],
      ['bool index_ready = 100;', 'bool index_ready = 103;', /field "100"/],
    ]
    for (const [find, replace, report] of broken) {
      assert.ok(text.includes(find), find)
      assert.match(buf(text.replace(find, replace), ...against), report, find)
    }
  })
})
