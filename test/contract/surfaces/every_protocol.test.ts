/**
 * One table of operations, four protocols: each operation that has a name in gRPC, GraphQL or MCP is asked by
 * HTTP and by each of them. Answers, refusals and authorisation must be the same.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { operations } from '../../../src/operations/index.js'
import { CASES, ELSEWHERE } from '../../harness/protocols/cases.js'
import { ADMINISTRATOR, ASKERS, namedRows, ProtocolServer } from '../../harness/protocols/protocol_server.js'
import { OWN } from '../../harness/server/authorisation_model.js'

/** The others differ less, and their calls, which are permitted, take long. */
const FAST_ASKERS = new Set(['without credentials', 'a reader', 'a writer'])

describe('every protocol', () => {
  const protocols = new ProtocolServer()
  before(() => protocols.start())
  after(() => protocols.end())

  it('protocols: every operation that a protocol names has a case', () => {
    const missing = namedRows.filter(({ name }) => !(name in CASES) && !(name in ELSEWHERE)).map(({ name }) => name)
    assert.deepEqual(missing, [])
    const unknown = [...Object.keys(CASES), ...Object.keys(ELSEWHERE)].filter((name) => !operations.some((row) => row.name === name))
    assert.deepEqual(unknown, [])
  })

  it('protocols: each operation gives the same answer by HTTP, gRPC, GraphQL and MCP', async () => {
    const wrong: string[] = []
    for (const row of namedRows) {
      const one = CASES[row.name]
      if (one === undefined) continue
      const view = one.view ?? ((value: unknown) => value !== null)
      const byHttp = await protocols.run(row, one, protocols.http)
      if (byHttp.refusal !== null) wrong.push(`${row.name} by HTTP: ${byHttp.text}`)
      const wanted = JSON.stringify(view(byHttp.value))
      for (const [protocol, caller] of protocols.others) {
        if (row.protocols[protocol] === null) continue
        const { refusal, text, value } = await protocols.run(row, one, caller)
        const found = JSON.stringify(view(value))
        if (refusal !== null) wrong.push(`${row.name} by ${caller.protocol}: ${refusal}: ${text}`)
        else if (found !== wanted)
          wrong.push(`${row.name} by ${caller.protocol}: ${found} instead of ${wanted}: ${JSON.stringify(value).slice(0, 200)}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('protocols: what is missing or not found is refused alike by all of them', async () => {
    const wrong: string[] = []
    const absent = {
      collection: OWN,
      key: 'nothing',
      lang: 'en',
      id: 'nothing',
      username: 'nobody',
      name: 'nobody',
      group: 'nobody',
      groupName: 'nobody',
      from: 'nothing',
    }
    for (const row of namedRows) {
      if (row.http === undefined || !(row.name in CASES)) continue
      const required = Object.keys(absent).filter((name) => name in (CASES[row.name]?.input ?? {}))
      const inputs = [{}, { ...CASES[row.name]?.input, ...Object.fromEntries(required.map((name) => [name, absent[name as 'key']])) }]
      for (const input of inputs) {
        // A path without its parameter is another path.
        if (row.http.routes[0]?.path.includes(':') === true && input === inputs[0]) continue
        await protocols.fill()
        const byHttp = await protocols.http.call(row.name, input, ADMINISTRATOR)
        if (byHttp.refusal === null) {
          protocols.isFilled = row.effect !== 'write'
          continue
        }
        for (const [protocol, caller] of protocols.others) {
          const isResource = row.protocols[protocol]?.includes('://') === true
          // A resource without its names is none.
          if (row.protocols[protocol] === null || (isResource && input === inputs[0])) continue
          const { refusal, text } = await caller.call(row.name, input, ADMINISTRATOR)
          protocols.isFilled &&= refusal !== null || row.effect !== 'write'
          if (refusal !== byHttp.refusal)
            wrong.push(
              `${row.name} of ${JSON.stringify(input)} by ${caller.protocol}: ${refusal} (${text}) instead of ${byHttp.refusal} (${byHttp.text})`,
            )
        }
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('protocols: the matrix of authorisation has no wrong cell for three kinds of principals', async () => {
    const askers = ASKERS.filter(({ name }) => FAST_ASKERS.has(name))
    assert.equal(askers.length, FAST_ASKERS.size)
    const { cells, wrong } = await protocols.matrix(askers)
    assert.ok(cells > 500, `${cells} cells`)
    assert.deepEqual(wrong, [])
  })
})
