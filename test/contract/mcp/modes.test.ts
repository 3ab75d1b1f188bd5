/**
 * The access mode of MCP and its tools: mcp.md, "Env", and what the core refuses in a mode. Every tool is
 * called in every mode.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Listed {
  readonly name: string
  readonly annotations: { readonly readOnlyHint: boolean }
  readonly inputSchema: {
    readonly required?: readonly string[]
    readonly properties: Readonly<Record<string, { readonly type: string; readonly examples?: readonly unknown[] }>>
  }
}

const CUSTOM = `
custom_tools:
  - { name: my_search, description: Lists., action: search_documents, defaults: { collection: c } }
  - { name: my_languages, description: Languages., action: fts_languages }
`
/** They only read, but are about the server, not about documents: the core does not refuse them. */
const OF_THE_SERVER = ['fts_languages', 'get_stats', 'my_languages']
const REFUSED = /not available in (?:read|write)-only mode|^(?:read|write)-only mode/
const VALUES: Readonly<Record<string, unknown>> = { string: 'x', integer: 1, number: 1, boolean: true, object: {}, array: [] }

/** So that no tool is refused for its arguments before its mode is looked at. */
function argumentsOf({ inputSchema: { required = [], properties } }: Listed): object {
  return Object.fromEntries(required.map((name) => [name, properties[name]!.examples?.[0] ?? VALUES[properties[name]!.type]]))
}

describe('mcp: modes', () => {
  const servers = new Map<string, Server>()
  let folder: string
  let all: readonly Listed[]

  const clientOf = (mode: string): McpClient => new McpClient(servers.get(mode)!)
  async function listedIn(mode: string): Promise<readonly Listed[]> {
    return (await clientOf(mode).stateless('tools/list')).rpc.result.tools as unknown as readonly Listed[]
  }
  const namesIn = async (mode: string): Promise<readonly string[]> => (await listedIn(mode)).map(({ name }) => name)
  async function textOf(mode: string, tool: Listed): Promise<string> {
    const { error, result } = (await clientOf(mode).stateless('tools/call', { name: tool.name, arguments: argumentsOf(tool) })).rpc
    // What the core has said against the values, it has said within the mode.
    assert.doesNotMatch(error?.message ?? '', /argument/, tool.name)
    return error?.message ?? result.content[0]?.text ?? ''
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mds-mcp-modes-'))
    const config = join(folder, 'mcp.yaml')
    writeFileSync(config, CUSTOM)
    for (const mode of ['read', 'write', 'wr'])
      servers.set(mode, await startServer({ env: { SVC_MCP_MODE: mode, SVC_MCP_CONFIG: config } }))
    all = await listedIn('wr')
  })

  after(async () => {
    for (const server of servers.values()) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const mode of ['read', 'write', 'wr'])
    it(`mcp: in mode ${mode}, a tool is listed if and only if it may be called`, async () => {
      const listed = await namesIn(mode)
      const called: string[] = []
      for (const tool of all) if (!REFUSED.test(await textOf(mode, tool))) called.push(tool.name)
      assert.deepEqual(called, listed)
    })

  it('mcp: in read mode, exactly the tools whose hint says that they only read are listed', async () => {
    const reading = all.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)
    assert.deepEqual(await namesIn('read'), reading)
  })

  it('mcp: in write mode, tools whose operations read are not listed, those about the server are', async () => {
    const listed = await namesIn('write')
    const reading = all.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)
    assert.deepEqual(
      reading.filter((name) => listed.includes(name)),
      OF_THE_SERVER,
    )
    // A backup reads the store for the core; a rule is read before it is changed.
    const missing = all.map(({ name }) => name).filter((name) => !listed.includes(name) && !reading.includes(name))
    assert.deepEqual(missing.toSorted(), ['create_backup', 'update_curation_rule'])
  })
})
