/** The scan of a MessagePack input before it is unpacked, by known encodings. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type MsgpackScan, scanMsgpack } from '../../../src/wire/msgpack_scan.js'

const NONE = { depth: 100, containers: 100, values: 100 }

function scanned(hex: string, bounds = NONE): readonly [MsgpackScan['verdict'], number, number] {
  const { verdict, containers, values } = scanMsgpack(Buffer.from(hex.replaceAll(' ', ''), 'hex'), bounds)
  return [verdict, containers, values]
}

describe('MessagePack scan', () => {
  const scalars = [
    '00', '7f', 'e0', 'ff', 'c0', 'c2', 'c3', 'a0', 'a3 616263',
    'c4 00', 'c4 02 c1c1', 'c5 0002 c1c1', 'c6 00000002 c1c1',
    'd4 00 00', 'd4 ff 00', 'd5 00 0000', 'd6 ff 00000000', 'd7 ff 0000000000000000', `d8 ff ${'00'.repeat(16)}`,
    `c7 0c ff ${'00'.repeat(12)}`, `c8 000c ff ${'00'.repeat(12)}`, `c9 0000000c ff ${'00'.repeat(12)}`,
    'ca 00000000', 'cb 0000000000000000', 'cc ff', 'cd ffff', 'ce ffffffff', 'cf ffffffffffffffff',
    'd0 ff', 'd1 ffff', 'd2 ffffffff', 'd3 ffffffffffffffff', 'd9 01 61', 'da 0001 61', 'db 00000001 61',
  ] // prettier-ignore

  it('every scalar of the specification is one value, and nothing when a byte is missing or left over', () => {
    for (const one of scalars) {
      const hex = one.replaceAll(' ', '')
      assert.deepEqual(scanned(hex), ['good', 0, 1], one)
      for (let end = 0; end < hex.length; end += 2) assert.equal(scanned(hex.slice(0, end))[0], 'invalid', `${one} up to ${end}`)
      assert.equal(scanned(`${hex}00`)[0], 'invalid', `${one} and one more`)
    }
  })

  it('containers of every size count themselves and their values, not their keys', () => {
    for (const [hex, containers, values] of [
      ['80', 1, 1],
      ['90', 1, 1],
      ['92 01 02', 1, 3],
      ['82 a161 01 02 90', 2, 3],
      ['dc 0002 80 80', 3, 3],
      ['dd 00000001 de 0001 a161 df 00000001 a162 c0', 3, 4],
    ] as const)
      assert.deepEqual(scanned(hex), ['good', containers, values], hex)
  })

  it('0xc1, containers as keys, and extensions with further values inside are refused', () => {
    for (const hex of ['c1', '81 90 01', '81 80 01', 'd4 72 40 91 a161 01', 'd4 73 00 90', 'c7 00 78 92 a161 a0', 'd6 62 00000000 c0'])
      assert.equal(scanned(hex)[0], 'invalid', hex)
  })

  it('sizes beyond the input are refused without a look past its end', () => {
    for (const hex of ['dd ffffffff', 'df ffffffff', 'db ffffffff', 'c6 ffffffff', 'c9 ffffffff ff', 'df 00000001 a161'])
      assert.equal(scanned(hex)[0], 'invalid', hex)
    const around = Buffer.from('9100', 'hex')
    assert.equal(scanMsgpack(around.subarray(0, 1), NONE).verdict, 'invalid')
  })

  it('each bound is exact', () => {
    assert.equal(scanned('92 90 90', { ...NONE, containers: 3 })[0], 'good')
    assert.equal(scanned('92 90 90', { ...NONE, containers: 2 })[0], 'containers')
    assert.equal(scanned('92 01 02', { ...NONE, values: 3 })[0], 'good')
    assert.equal(scanned('92 01 02', { ...NONE, values: 2 })[0], 'values')
    assert.equal(scanned('91 91 90', { ...NONE, depth: 3 })[0], 'good')
    assert.equal(scanned('91 91 90', { ...NONE, depth: 2 })[0], 'depth')
  })

  it('without other bounds those of JSON hold: a million empty maps are too many', () => {
    const bytes = Buffer.alloc(5 + 1_048_576, 0x80)
    bytes.writeUInt8(0xdd)
    bytes.writeUInt32BE(bytes.length - 5, 1)
    assert.equal(scanMsgpack(bytes).verdict, 'containers')
    assert.equal(scanMsgpack(Buffer.alloc(65, 0x91)).verdict, 'depth')
  })
})
