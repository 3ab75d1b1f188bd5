/**
 * The static embedding model compared with the Python packages that it comes from, and the guarantees of its
 * reader for any text and any file.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { loadStaticModel, LOCAL_TEXT_BYTES_MAX } from '../../../src/engine/models/static_model.js'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const directory = mkdtempSync(join(tmpdir(), 'mds-static-model-'))
after(() => rmSync(directory, { recursive: true }))

const model = loadStaticModel()

interface Golden {
  readonly text: string
  readonly tokens: readonly number[]
  readonly vector: string
}

/** Value of a half float. */
function half(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, bits & 1023]
  return (sign === 1 ? -1 : 1) * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15))
}

function dot(left: ArrayLike<number>, right: ArrayLike<number>): number {
  return Array.from(left).reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
}

describe('static model', () => {
  const cases = JSON.parse(readFileSync(join(ROOT, 'test/golden/static_model/vectors.json'), 'utf8')) as Golden[]

  it('static model: tokens are those of the Python tokenizer, in any script, code, emoji and bytes', () => {
    assert.equal(cases.length, 200)
    for (const { text, tokens } of cases) assert.deepEqual([...model.tokens(text)], tokens, JSON.stringify(text))
    // A second time, when pieces are cached.
    for (const { text, tokens } of cases) assert.deepEqual([...model.tokens(text)], tokens, JSON.stringify(text))
  })

  it('static model: vectors are those of the Python package, but for the rounding to eight bits', () => {
    const vectors = model.embed(cases.map(({ text }) => text))
    let sum = 0
    for (const [index, { text, vector }] of cases.entries()) {
      const halves = Buffer.from(vector, 'base64')
      const expected = Array.from({ length: model.dimensions }, (_, at) => half(halves.readUInt16LE(at * 2)))
      const cosine = dot(vectors.subarray(index * model.dimensions, (index + 1) * model.dimensions), expected)
      assert.ok(cosine > 0.999, `${cosine} ${JSON.stringify(text)}`)
      sum += cosine
    }
    assert.ok(sum / cases.length > 0.9999, `${sum / cases.length}`)
  })

  it('static model: texts that mean the like are nearer than others', () => {
    const near = model.embed([
      'How do I change my password?',
      'resetting the password of an account',
      'The rain in Spain falls on the plain.',
    ])
    const [question, answer, other] = [0, 1, 2].map((index) => near.subarray(index * model.dimensions, (index + 1) * model.dimensions))
    assert.ok(dot(question ?? [], answer ?? []) > dot(question ?? [], other ?? []) + 0.2)
  })

  it('static model: any text has a vector of length one, the same in any company', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 8 }), (texts) => {
        const vectors = model.embed(texts)
        for (const [index, text] of texts.entries()) {
          const vector = vectors.subarray(index * model.dimensions, (index + 1) * model.dimensions)
          assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-4)
          assert.deepEqual(vector, model.embed([text]))
        }
      }),
      { numRuns: 300 },
    )
    assert.deepEqual(model.embed(['']), new Float32Array(model.dimensions))
    assert.deepEqual(model.embed([]), new Float32Array(0))
  })

  it('static model: of a giant text the first part counts, whatever it is made of, in linear time', () => {
    for (const unit of ['a', 'word ', '中', '<', '<s>', '▁', '-', ' ', '\n', '😀']) {
      const begin = process.cpuUsage()
      const giant = unit.repeat(16_000_000 / unit.length)
      const vector = model.embed([giant])
      const { user, system } = process.cpuUsage(begin)
      assert.ok(user + system < 3e6, `${JSON.stringify(unit)}: ${(user + system) / 1e6} s`)
      const read = giant.slice(0, Math.floor(LOCAL_TEXT_BYTES_MAX / Buffer.byteLength(unit)) * unit.length)
      assert.ok(dot(vector, model.embed([read])) > 0.9999, unit)
    }
  })

  it('static model: a file that is damaged, cut or of another version is refused', () => {
    const file = readFileSync(join(ROOT, 'models/static/static.mdsm'))
    const refused = (name: string, bytes: Uint8Array, pattern: RegExp): void => {
      const path = join(directory, name)
      writeFileSync(path, bytes)
      assert.throws(() => loadStaticModel(path), pattern)
    }
    const withChecksum = (change: (bytes: Buffer) => Buffer): Buffer => {
      const changed = change(Buffer.from(file))
      changed.writeUInt32LE(crc32(changed.subarray(12)), 8)
      return changed
    }
    const flipped = Buffer.from(file)
    flipped[file.length - 1] = (flipped.at(-1) ?? 0) ^ 1
    refused('flipped', flipped, /damaged/)
    refused('cut', file.subarray(0, file.length - 1), /damaged/)
    refused('empty', Buffer.alloc(0), /damaged/)
    // Valid checksums over invalid numbers: version, rows, dimensions, characters, merges, first byte token,
    // a token beyond the table.
    for (const at of [7, 12, 16, 20, 24, 31]) {
      refused(
        `wrong-${at}`,
        withChecksum((bytes) => {
          bytes.writeUInt8((bytes[at] ?? 0) ^ 0x80, at)
          return bytes
        }),
        /no static model/,
      )
    }
    refused(
      'short',
      withChecksum((bytes) => bytes.subarray(0, bytes.length - 256)),
      /no static model/,
    )
    refused(
      'token',
      withChecksum((bytes) => bytes.fill(0xff, 32 + 2129 * 4, 32 + 2129 * 4 + 2)),
      /no static model/,
    )
  })
})
