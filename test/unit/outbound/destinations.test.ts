/**
 * Permitted destinations of outgoing requests: addresses in every spelling, entries of the allow-list, ports.
 * No test uses the network.
 */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, it } from 'node:test'
import type { AllowedDestination } from '../../../src/outbound/allowlist.js'
import { isAllowed, parseAllowed } from '../../../src/outbound/allowlist.js'
import { checkAddress, checkUrl, classOfAddress, OutboundRefused } from '../../../src/outbound/destination.js'

const STRICT = { allowed: [], allowPrivate: false }
const PRIVATE = { allowed: [], allowPrivate: true }

const refuses = (run: () => unknown): void => void assert.throws(run, OutboundRefused)
const entries = (...texts: string[]): AllowedDestination[] =>
  texts.map((text) => {
    const entry = parseAllowed(text)
    assert.ok(entry, text)
    return entry
  })

/**
 * 127.0.0.1, ::1, 169.254.169.254, 0.0.0.0 and other internal addresses in the spellings that a URL permits.
 */
const INSIDE = [
  '127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0x7F.0.0.0x1', '017700000001', '0177.0.0.1', '0177.0.0.01', '127.0.0.1.', '127.255.255.254', '127.0.0.0x1',
  '%31%32%37.0.0.1', '１２７.０.０.１', '127。0。0。1', '①②⑦.⓪.⓪.①', '0', '0.0.0.0', '0x0', '00', '0.1.2.3',
  '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[::7f00:1]',
  '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[fe80::1]', '[fec0::1]',
  '[fc00::1]', '[fd00:ec2::254]', '[fd12:3456::1]', '[ff02::1]', '[100::1]', '[2001:db8::1]', '[5f00::1]', '[4000::1]', '[::ffff:8.8.8.8]',
  '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '100.100.100.200', '168.63.129.16', '192.0.0.192',
  '10.0.0.1', '012.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0xc0a80101', '100.64.0.1', '100.127.255.255', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1',
  '192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '4294967295', '0xffffffff',
] // prettier-ignore

const PUBLIC = ['8.8.8.8', '134744072', '0x08080808', '010.8.8.8', '1.1', '172.15.0.1', '172.32.0.1', '100.63.255.255', '100.128.0.1', '[2606:4700:4700::1111]', '[2a00::1]'] // prettier-ignore

describe('destinations of outgoing requests', () => {
  it('an address inside is refused in every spelling, by either scheme, with any port', () => {
    for (const host of INSIDE) {
      refuses(() => checkUrl(`http://${host}/`, STRICT))
      refuses(() => checkUrl(`https://${host}:8443/x?y#z`, STRICT))
      refuses(() => checkUrl(`HTTP:\\\\${host}/`, STRICT))
    }
  })

  it('an address of the public internet passes in every spelling', () => {
    for (const host of PUBLIC) assert.equal(checkUrl(`http://${host}:8080/`, STRICT).port, '8080', host)
    for (const host of ['example.com', 'example.com.', 'bücher.example', 'localhost'])
      assert.ok(checkUrl(`https://${host}/`, STRICT), 'names are judged by what they resolve to')
  })

  it('an address that is not plain http is refused', () => {
    const refused = [
      '', 'x', '//example.com/', 'http://', 'http:///', 'http://[::1', 'http://[fe80::1%25eth0]/', 'http://[fe80::1%eth0]/', 'http://exa mple.com/', 'http://example.com:70000/', 'http://256.1.1.1/',
      'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'data:text/plain,x', 'javascript:1', 'ws://example.com/', 'blob:http://example.com/x', 'unix:/tmp/s',
      'http://user@example.com/', 'http://user:password@example.com/', 'http://:password@example.com/', 'http://example.com@127.0.0.1/', `http://example.com/${'x'.repeat(2048)}`,
    ] // prettier-ignore
    for (const url of refused) refuses(() => checkUrl(url, STRICT))
  })

  it('ports below 1024 other than 80 and 443 are refused, on open and on private addresses', () => {
    for (const port of [80, 443, 1024, 8080, 65_535]) assert.doesNotThrow(() => checkAddress(STRICT, 'x', '8.8.8.8', port))
    for (const port of [0, 1, 22, 25, 79, 81, 444, 1023]) {
      refuses(() => checkAddress(STRICT, 'x', '8.8.8.8', port))
      refuses(() => checkAddress(PRIVATE, 'x', '10.0.0.1', port))
      refuses(() => checkUrl(`http://8.8.8.8:${port}/`, STRICT).port === '80')
    }
  })

  it('SVC_OUTBOUND_ALLOW_PRIVATE opens this machine and private networks, and nothing that no service is at', () => {
    for (const host of ['127.0.0.1', '2130706433', '10.0.0.1', '192.168.0.1', '100.64.0.1', '[::1]', '[fd12::1]', '8.8.8.8'])
      assert.ok(checkUrl(`http://${host}/`, PRIVATE), host)
    const never = ['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '168.63.129.16', '0.0.0.0', '224.0.0.1', '255.255.255.255', '[fe80::1]', '[ff02::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'] // prettier-ignore
    for (const host of never) refuses(() => checkUrl(`http://${host}/`, PRIVATE))
  })

  it('an invalid address, or one with a zone, is in no allowed class', () => {
    for (const text of ['', 'localhost', 'fe80::1%eth0', '::1%lo', '127.0.0.1 ', '1.2.3.4.5', 'x'.repeat(300)])
      assert.equal(classOfAddress(text), 'never', text)
  })

  it('this machine is private under its own addresses, too', () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    assert.ok(own.length > 0)
    for (const { address, scopeid } of own) {
      refuses(() => checkAddress(STRICT, 'x', scopeid === undefined || scopeid === 0 ? address : `${address}%${scopeid}`, 8080))
    }
  })
})

describe('the allow-list', () => {
  it('takes names, names below one, addresses and networks, each with or without a port', () => {
    assert.deepEqual(
      entries('Ollama.Internal', '*.example.com:8443', '10.1.2.3', '10.0.0.0/8:9000', '[::1]:80', 'fd00::/8', '[fd00::/8]:1'),
      [
        { kind: 'name', name: 'ollama.internal', below: false, port: null },
        { kind: 'name', name: 'example.com', below: true, port: 8443 },
        { kind: 'network', network: '10.1.2.3', bits: 32, port: null },
        { kind: 'network', network: '10.0.0.0', bits: 8, port: 9000 },
        { kind: 'network', network: '::1', bits: 128, port: 80 },
        { kind: 'network', network: 'fd00::', bits: 8, port: null },
        { kind: 'network', network: 'fd00::', bits: 8, port: 1 },
      ],
    )
  })

  it('refuses any other text', () => {
    const refused = ['', '*', '*.', '.example.com', 'exa mple', 'http://example.com', 'example.com/path', 'example.com:0', 'example.com:65536', 'example.com:x', '10.0.0.0/33', '10.0.0.0/', '10.1/8', '10', '0x7f.1', '::1/129', 'a/8', '[::1', '-x'] // prettier-ignore
    for (const text of refused) assert.equal(parseAllowed(text), undefined, text)
  })

  it('opens exactly what it names', () => {
    const list = entries('ollama.internal:11434', '*.example.com', '10.1.0.0/16:22', '::1')
    assert.ok(isAllowed(list, 'ollama.internal', '192.168.1.1', 11434))
    assert.ok(!isAllowed(list, 'ollama.internal', '192.168.1.1', 80))
    assert.ok(!isAllowed(list, 'x.ollama.internal', '192.168.1.1', 11434))
    assert.ok(isAllowed(list, 'a.b.example.com', '10.9.9.9', 80))
    assert.ok(!isAllowed(list, 'example.com', '10.9.9.9', 80))
    assert.ok(!isAllowed(list, 'notexample.com', '10.9.9.9', 80))
    assert.ok(isAllowed(list, 'x', '10.1.255.255', 22))
    assert.ok(!isAllowed(list, 'x', '10.2.0.0', 22))
    assert.ok(isAllowed(list, 'x', '0:0:0:0:0:0:0:1', 5))
    assert.ok(!isAllowed(list, 'x', '::2', 5))
    assert.ok(!isAllowed(list, 'x', 'fe80::1%eth0', 5))
  })

  it('an allowed destination may be reached on its port, regardless of number and address', () => {
    const policy = { allowed: entries('10.1.0.0/16:22', '169.254.169.254:80'), allowPrivate: false }
    assert.doesNotThrow(() => checkAddress(policy, 'x', '10.1.2.3', 22))
    assert.ok(checkUrl('http://169.254.169.254/', policy))
    refuses(() => checkUrl('http://169.254.169.254:8080/', policy))
  })
})
