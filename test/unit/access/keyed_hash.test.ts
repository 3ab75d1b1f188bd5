/** The keyed hash of counters: HalfSipHash-2-4, compared with the vectors of its authors. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { KeyedHash } from '../../../src/access/keyed_hash.js'

/** Key 00 01 ... 07, message 00 01 ... of 0, 2, 4 ... bytes; vectors_hsip64 of the reference code. */
const VECTORS = [
  '218d1f59b9b83cc8', '064f39ef7c50eb57', 'd5e78a175be52ea1', 'ce3e91358aa2bc25',
  'edfee820bce4858c', '95b0469f06a6f2ee', '7bc71f9faef5c799', '3bb1a870eae8e658',
] // prettier-ignore

it('keyed hash: texts hash as the reference code hashes their bytes', () => {
  const key = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7])
  const hash = new KeyedHash([key.readInt32LE(0), key.readInt32LE(4)])
  VECTORS.forEach((expected, units) => {
    hash.hash(Buffer.from(Array.from({ length: 2 * units }, (_, at) => at)).toString('utf16le'))
    const bytes = Buffer.alloc(8)
    bytes.writeInt32LE(hash.first, 0)
    bytes.writeInt32LE(hash.second, 4)
    assert.equal(bytes.toString('hex'), expected, `${units} units`)
  })
})
