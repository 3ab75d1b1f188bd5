/**
 * The scan of a MessagePack input before it is unpacked: it counts what the packer wrote, and it ends with a
 * verdict for any bytes.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { packAnswer, unpackInput } from '../../../src/wire/msgpack_input.js'
import { scanMsgpack } from '../../../src/wire/msgpack_scan.js'
import { holds } from '../../harness/property.js'

const NONE = { depth: 1_000, containers: 2 ** 31, values: 2 ** 31 }

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger()),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(null, undefined, true, false),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 40 }),
    fc.dictionary(fc.string({ maxLength: 40 }), tie('value'), { maxKeys: 20, noNullPrototype: true }),
  ),
}))

interface Counts {
  containers: number
  values: number
}

function count(one: unknown, counts: Counts = { containers: 0, values: 0 }): Counts {
  counts.values++
  if (typeof one !== 'object' || one === null || one instanceof Date || ArrayBuffer.isView(one)) return counts
  counts.containers++
  for (const item of Object.values(one)) count(item, counts)
  return counts
}

it('the counts of the scan are those of a walk over the packed value', () => {
  holds(
    fc.property(value, (one) => {
      const bytes = packAnswer(one)
      assert.deepEqual(scanMsgpack(bytes, NONE), { verdict: 'good', ...count(one) })
      assert.notEqual(scanMsgpack(bytes.subarray(0, -1), NONE).verdict, 'good')
    }),
  )
})

it('for any bytes the scan ends with a verdict, and for valid input it counts no less than is unpacked', () => {
  // First bytes of containers and extensions are more likely than among random bytes.
  const byte = fc.oneof(fc.nat(0xff), fc.integer({ min: 0x80, max: 0x93 }), fc.integer({ min: 0xc0, max: 0xdf }), fc.nat(3))
  holds(
    fc.property(fc.array(byte, { maxLength: 64 }), (bytes) => {
      const input = Uint8Array.from(bytes)
      const { verdict, containers, values } = scanMsgpack(input, { depth: 4, containers: 8, values: 16 })
      assert.ok(['good', 'invalid', 'depth', 'containers', 'values'].includes(verdict), verdict)
      if (verdict !== 'good') return
      let unpacked: unknown
      try {
        unpacked = unpackInput(input)
      } catch {
        return // The unpacker refuses some keys and dates.
      }
      // Of equal keys of a map the last one remains.
      const built = count(unpacked)
      assert.ok(built.values <= values && built.containers <= containers, JSON.stringify([built, values, containers]))
    }),
    { numRuns: 5_000 },
  )
})
