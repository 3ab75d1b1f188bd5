/** The address of a client behind trusted proxies: what each of them added is believed, and nothing else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseProxies, TRUSTED_PROXIES_MAX } from '../../../src/config/options/values.js'
import { FORWARDED_ADDRESSES_MAX, TrustedProxies } from '../../../src/surface/http/trusted_proxies.js'

const proxies = new TrustedProxies(parseProxies('10.0.0.0/8, 192.0.2.1, 2001:DB8:1::/48'))

describe('trusted proxies', () => {
  it('the client is the last forwarded address that is not a trusted proxy', () => {
    for (const [peer, header, client] of [
      ['10.0.0.1', '203.0.113.7', '203.0.113.7'],
      ['10.0.0.1', '198.51.100.9, 203.0.113.7', '203.0.113.7'],
      ['10.0.0.1', '198.51.100.9,203.0.113.7, 10.9.9.9 ,192.0.2.1', '203.0.113.7'],
      ['2001:db8:1::5', '203.0.113.7', '203.0.113.7'],
      ['::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
      ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
      ['10.0.0.1', '', '10.0.0.1'],
    ] as const)
      assert.equal(proxies.clientOf(peer, header), client, `${peer} ${header}`)
  })

  it('nothing that a peer forwards is believed unless it is trusted', () => {
    for (const peer of ['203.0.113.7', '192.0.2.2', '11.0.0.1', '2001:db8:2::1', '::1', ''])
      assert.equal(proxies.clientOf(peer, '198.51.100.9'), peer)
    assert.equal(new TrustedProxies([]).clientOf('127.0.0.1', '198.51.100.9'), '127.0.0.1')
  })

  it('a unix socket has no address, and is trusted by name', () => {
    const unix = new TrustedProxies(parseProxies('unix'))
    assert.equal(unix.clientOf('', '198.51.100.9, 203.0.113.7'), '203.0.113.7')
    assert.equal(unix.clientOf('', ''), '')
    assert.equal(unix.clientOf('127.0.0.1', '203.0.113.7'), '127.0.0.1')
  })

  it('an entry that is no address ends the search, and addresses have one spelling', () => {
    for (const entry of [
      'unknown',
      '_hidden',
      'a.example',
      '',
      '1.2.3',
      '256.1.1.1',
      '010.0.0.1',
      'fe80::1%eth0',
      '[::1',
      '1.2.3.4:x',
      '1.2.3.4 5',
      'x'.repeat(8000),
    ])
      assert.equal(proxies.clientOf('10.0.0.1', `203.0.113.7, ${entry}, 10.0.0.2`), '10.0.0.2', entry.slice(0, 20))
    for (const [entry, client] of [
      ['203.0.113.7:1234', '203.0.113.7'],
      ['[2001:DB8::7]:443', '2001:db8::7'],
      ['[2001:db8:0:0::7]', '2001:db8::7'],
      ['2001:0db8:0000:0000:0000:0000:0000:0007', '2001:db8::7'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['::FFFF:cb00:7107', '203.0.113.7'],
    ] as const)
      assert.equal(proxies.clientOf('10.0.0.1', entry), client, entry)
  })

  it('a chain of trusted proxies is followed to a bound', () => {
    const chain = Array.from({ length: FORWARDED_ADDRESSES_MAX + 5 }, (_, at) => `10.0.1.${at}`)
    assert.equal(proxies.clientOf('10.0.0.1', chain.join(',')), '10.0.1.5')
  })

  it('entries are addresses, networks or the word unix', () => {
    assert.deepEqual(parseProxies(' 10.0.0.0/8 ,::1, UNIX'), ['10.0.0.0/8', '::1', 'unix'])
    for (const text of ['proxy.example', '10.0.0.0/33', '::1/129', '10.0.0.0/', '10.0.0.0/8/8', '10.1', '*', '::1%lo', '10.0.0.1:80'])
      assert.throws(() => parseProxies(text), /addresses, networks such as 10\.0\.0\.0\/8, or unix/, text)
    const many = Array.from({ length: TRUSTED_PROXIES_MAX + 1 }, () => '::1').join(',')
    assert.throws(() => parseProxies(many), /at most 256 proxies/)
  })
})
