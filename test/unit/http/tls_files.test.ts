/** The parts of TLS that need no server: what is noticed of files, and the header that names a client. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { PROXY_SIGNATURE, proxyHeader, SignatureSearch } from '../../../src/surface/http/gate/proxy_header.js'
import { FileWatch } from '../../../src/surface/tls/file_watch.js'
import { untilAsked } from '../../harness/process/until.js'

describe('watched files', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'mds-watch-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('tls files: each way in which a file changes is noticed once, and reported', async () => {
    const mount = join(folder, 'mount')
    for (const name of ['a', 'b', 'mount']) mkdirSync(join(folder, name))
    for (const name of ['a', 'b']) writeFileSync(join(folder, name, 'file'), name)
    symlinkSync(join('..', 'a'), join(mount, 'present'))
    symlinkSync(join('present', 'file'), join(mount, 'file'))
    let hints = 0
    const files = new FileWatch([join(mount, 'file'), ''], () => hints++)
    assert.deepEqual([files.haveChanged(), files.haveChanged()], [true, false])
    const changes: readonly (() => void)[] = [
      () => writeFileSync(join(folder, 'a', 'file'), 'in place'),
      () => {
        copyFileSync(join(folder, 'b', 'file'), join(folder, 'a', 'new'))
        renameSync(join(folder, 'a', 'new'), join(folder, 'a', 'file'))
      },
      () => {
        symlinkSync(join('..', 'b'), join(mount, 'next'))
        renameSync(join(mount, 'next'), join(mount, 'present'))
      },
      () => writeFileSync(join(folder, 'b', 'file'), 'where the link points now'),
      () => rmSync(join(folder, 'b', 'file')),
      () => writeFileSync(join(folder, 'b', 'file'), 'again'),
    ]
    for (const [at, change] of changes.entries()) {
      const before = hints
      change()
      await untilAsked(
        () => Promise.resolve(hints),
        (count) => count > before,
      )
      assert.deepEqual([files.haveChanged(), files.haveChanged()], [true, false], `change ${at}`)
    }
    files.close()
  })

  it('tls files: links in a circle and folders that do not exist are no error', () => {
    symlinkSync('y', join(folder, 'x'))
    symlinkSync('x', join(folder, 'y'))
    const files = new FileWatch([join(folder, 'x'), join(folder, 'nothing', 'file')], () => undefined)
    assert.deepEqual([files.haveChanged(), files.haveChanged()], [true, false])
    files.close()
  })
})

describe('the header of the PROXY protocol', () => {
  it('tls gate: holds the address of the client, of each family', () => {
    const sourceOf = (address: string): string => proxyHeader(address).subarray(12, 32).toString('hex')
    assert.equal(sourceOf('192.0.2.7').slice(0, 16), '2111000cc0000207')
    assert.equal(sourceOf('2001:db8::7'), '2121002420010db8000000000000000000000007')
    assert.equal(sourceOf('::1'), '2121002400000000000000000000000000000001')
    assert.equal(proxyHeader('192.0.2.7').length, 16 + 12)
    assert.equal(proxyHeader('::1').length, 16 + 36)
  })

  it('tls gate: the signature is found wherever the bytes are divided, and nothing else is', () => {
    const text = Buffer.concat([Buffer.from('POST / HTTP/1.1\r\n\r\n'), PROXY_SIGNATURE, Buffer.from('rest')])
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const search = new SignatureSearch()
        const found = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)].map((part) => search.isIn(part))
        assert.ok(found.includes(true), `divided at ${first} and ${second}`)
      }
    }
    const bytes = new SignatureSearch()
    assert.deepEqual([...text].map((byte) => bytes.isIn(Buffer.of(byte))).filter(Boolean).length, 1)
    const other = new SignatureSearch()
    for (const part of [PROXY_SIGNATURE.subarray(0, 11), Buffer.from('x'), PROXY_SIGNATURE.subarray(1)])
      assert.equal(other.isIn(part), false)
  })
})
