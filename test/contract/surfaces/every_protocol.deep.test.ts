/** The matrix of authorisation by gRPC, GraphQL and MCP, for every kind of principal. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { ASKERS, ProtocolServer } from '../../harness/protocols/protocol_server.js'

const protocols = new ProtocolServer()
before(() => protocols.start())
after(() => protocols.end())

it('protocols: the matrix of authorisation has no wrong cell in any of them', async () => {
  const { cells, wrong } = await protocols.matrix(ASKERS)
  assert.ok(cells > 1_000, `${cells} cells`)
  assert.deepEqual(wrong, [])
})
