/**
 * The era of a message, and the refusals before its method, against the official implementation: both are
 * given the same messages and headers, drawn from few values so that they meet.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { type EraHeaders, eraOf, missingHeader } from '../../../src/surface/mcp/protocol/era.js'
import { decodedName } from '../../../src/surface/mcp/protocol/header_text.js'
import { messageOf } from '../../../src/surface/mcp/protocol/message.js'
import { META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION } from '../../../src/surface/mcp/protocol/meta.js'
import { servedRevisions } from '../../../src/surface/mcp/protocol/revisions.js'
import { holds } from '../../harness/property.js'

const SERVED = servedRevisions('')
const VERSIONS = ['2026-07-28', '2025-11-25', '2027-01-01', 'x']
const METHODS = ['initialize', 'tools/list', 'tools/call', 'resources/read', 'server/discover', 'no/such']

const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined })
const defined = (value: object): object => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))

const meta = fc
  .record({
    [META_VERSION]: maybe(fc.oneof(fc.constantFrom<unknown>(...VERSIONS), fc.constantFrom<unknown>(7, null, {}))),
    [META_CAPABILITIES]: maybe(fc.constantFrom<unknown>({}, { sampling: {} }, [], 'x', null)),
    [META_CLIENT]: maybe(fc.constantFrom<unknown>({ name: 'a', version: '1' }, { name: 'a' }, 'x')),
    [META_LOG_LEVEL]: maybe(fc.constantFrom<unknown>('info', 'loud', 3)),
    progressToken: maybe(fc.constantFrom<unknown>('p', 1)),
    other: maybe(fc.constant<unknown>(1)),
  })
  .map(defined)

const params = fc
  .record({
    _meta: maybe(meta),
    name: maybe(fc.constantFrom('a', 'b')),
    protocolVersion: maybe(fc.constantFrom(...VERSIONS)),
  })
  .map(defined)

const message = fc
  .record({ id: maybe(fc.constantFrom<string | number>(1, 'a')), method: fc.constantFrom(...METHODS), params: maybe(params) })
  .map((fields) => ({ jsonrpc: '2.0', ...defined(fields) }) as { readonly jsonrpc: '2.0'; readonly method: string })

const headers: fc.Arbitrary<EraHeaders> = fc.record({
  version: maybe(fc.constantFrom(...VERSIONS)),
  method: maybe(fc.constantFrom(...METHODS)),
  name: maybe(fc.constantFrom('a', 'b')),
})

describe('mcp: eras', () => {
  it('mcp: the era of a message, or the code of its refusal, is that of the official implementation', () => {
    let stateless = 0
    let refused = 0
    fc.assert(
      fc.property(message, headers, (body, given) => {
        const read = messageOf(body)
        assert.ok(read !== null && read.kind !== 'response')
        const ours = eraOf(read, given, SERVED)
        const theirs = classifyInboundRequest({
          httpMethod: 'POST',
          body,
          ...(given.version === undefined ? {} : { protocolVersionHeader: given.version }),
          ...(given.method === undefined ? {} : { mcpMethodHeader: given.method }),
          ...(given.name === undefined ? {} : { mcpNameHeader: given.name }),
        })
        if (theirs.kind === 'legacy') return assert.equal(ours, 'handshake')
        if (theirs.kind === 'reject') {
          refused += 1
          assert.ok(typeof ours === 'object')
          return assert.deepEqual([ours.status, ours.code], [theirs.httpStatus, theirs.code])
        }
        // The revision is checked by their next step.
        if (!SERVED.stateless.includes(theirs.classification.revision ?? '')) {
          assert.ok(typeof ours === 'object')
          return assert.deepEqual([ours.status, ours.code], [400, -32022])
        }
        stateless += 1
        assert.equal(ours, 'stateless')
      }),
      { numRuns: 20_000 },
    )
    assert.ok(stateless > 20 && refused > 1_000, `${stateless} stateless, ${refused} refused`)
  })

  it('mcp: a name in a header comes back as it was, plain or coded', () => {
    holds(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        assert.equal(decodedName(`=?base64?${Buffer.from(name, 'utf8').toString('base64')}?=`), name)
        if (/^[\x20-\x7e]*$/.test(name) && !name.startsWith('=?')) assert.equal(decodedName(name), name)
      }),
    )
  })

  it('mcp: a whole request with its headers lacks none', () => {
    const whole = { version: '2026-07-28', method: 'tools/call', name: 'a' }
    assert.equal(missingHeader(whole, 'tools/call', { name: 'a' }), null)
    for (const without of ['version', 'method', 'name'] as const)
      assert.equal(missingHeader({ ...whole, [without]: undefined }, 'tools/call', { name: 'a' })?.code, -32020)
  })
})
