/** The rate limit with a clock of its own, and the texts under which clients are counted. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressKey, addressKeyOf, clientKey } from '../../../src/access/client_key.js'
import { RATE_EVENTS_MAX, RateLimit } from '../../../src/access/rate_limit.js'

const RULES = { rateLimitRequests: 2, rateLimitBurst: 1, rateLimitWindowMs: 10_000, rateLimitBy: 'ip' } as const

describe('rate limit', () => {
  it('rate limit: requests plus burst are allowed in a window, and the next window begins anew', () => {
    let now = 20_000
    const limit = new RateLimit(RULES, undefined, () => now)
    const allowed = (): boolean[] => Array.from({ length: 5 }, () => limit.take('a').isAllowed)
    assert.equal(limit.ceiling, 3)
    assert.deepEqual(allowed(), [true, true, true, false, false])
    now = 29_999
    assert.equal(limit.take('a').isAllowed, false)
    now = 30_000
    assert.deepEqual(allowed(), [true, true, true, false, false])
    assert.equal(limit.take('b').remaining, 2)
  })

  it('rate limit: a verdict says what is left, when the window ends, and after how many seconds to come again', () => {
    let now = 20_000
    const limit = new RateLimit(RULES, undefined, () => now)
    assert.deepEqual([limit.take('a').remaining, limit.take('a').remaining, limit.take('a').remaining, limit.take('a').remaining], [2, 1, 0, 0]) // prettier-ignore
    now = 22_500
    const { resetSeconds, retryAfterSeconds } = limit.take('a')
    assert.equal(retryAfterSeconds, 8)
    assert.ok(Math.abs(resetSeconds - (Date.now() / 1000 + 7.5)) <= 1.5)
    now = 29_999.9
    assert.equal(limit.take('a').retryAfterSeconds, 1)
  })

  it('rate limit: the first refusal of a client in a window is an event, and a flood of clients makes a bounded number', () => {
    let now = 0
    const limit = new RateLimit(RULES, undefined, () => now)
    const events = (client: string): number => Array.from({ length: 9 }, () => limit.take(client)).filter(({ isEvent }) => isEvent).length
    assert.deepEqual([events('a'), events('a'), events('b')], [1, 0, 1])
    now = 10_000
    let count = 0
    for (let client = 0; client < 2 * RATE_EVENTS_MAX; client++) count += events(`c${client}`)
    assert.equal(count, RATE_EVENTS_MAX)
    now = 20_000
    assert.equal(events('a'), 1)
  })

  it('rate limit: objects on the memory of another one count together with it', () => {
    const first = new RateLimit(RULES, undefined, () => 0)
    const second = new RateLimit(RULES, first.memory, () => 0)
    const allowed = [first, second, second, first, second].map((limit) => limit.take('a').isAllowed)
    assert.deepEqual(allowed, [true, true, true, false, false])
  })
})

describe('keys of clients', () => {
  it('client key: an IPv4 address is one client, whether it comes as text, as bytes or mapped into IPv6', () => {
    assert.equal(addressKey('203.0.113.7'), '203.0.113.7')
    assert.equal(addressKeyOf(new Uint8Array([203, 0, 113, 7])), '203.0.113.7')
    assert.equal(addressKeyOf(new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 7])), '203.0.113.7')
  })

  it('client key: an IPv6 network of 64 bits is one client, in every spelling', () => {
    const network = '2001:db8:0:1::/64'
    for (const address of ['2001:db8:0:1::', '2001:db8:0:1::2', '2001:db8:0:1:ffff:1:2:3'])
      assert.equal(addressKey(address), network, address)
    assert.equal(addressKeyOf(new Uint8Array([0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9])), network)
    assert.notEqual(addressKey('2001:db8:0:2::2'), network)
    assert.equal(addressKey('::1'), '0:0:0:0::/64')
    assert.equal(addressKey('1::2:3:4:5:6:7'), '1:0:2:3::/64')
    assert.equal(addressKey('64:ff9b::1.2.3.4'), '64:ff9b:0:0::/64')
    assert.equal(addressKey('1:2:3::1.2.3.4'), '1:2:3:0::/64')
  })

  it('client key: by user a name is one client from every address; callers without a name are their address', () => {
    const [x, y] = [(): string => 'x', (): string => 'y']
    assert.equal(clientKey('ada', x), clientKey('ada', y))
    const address = (): string => '203.0.113.7'
    assert.equal(clientKey('', address), address())
    // A name that looks like an address is not counted with that address.
    assert.notEqual(clientKey(address(), address), address())
    assert.equal(addressKey(''), addressKeyOf(new Uint8Array(0)))
  })
})
