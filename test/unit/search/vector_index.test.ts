/**
 * The vector engine at a start: it receives the missing vectors, removes those that truth does not have, and
 * reports its loading state.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { decideDelete, decidePut } from '../../../src/domain/decision.js'
import { decideVectors } from '../../../src/domain/embedding/embedded_document.js'
import { openVectorEngine } from '../../../src/engine/vectors/vector_engine.js'
import { openDataDirectory } from '../../../src/store/files/layout.js'
import { TruthStore } from '../../../src/store/truth_store.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { beginLoading, openVectors, VECTOR_LOAD_DOCUMENTS } from '../../../src/worker/lane/vector_index.js'
import { embed } from '../../harness/embedding/embedded_documents.js'
import { prepared } from '../../harness/store/store_operations.js'

const directory = mkdtempSync(join(tmpdir(), 'mds-vector-index-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const DOCUMENTS = 3 * VECTOR_LOAD_DOCUMENTS

it('vector index: a start gives the engine missing vectors page by page and removes those that truth no longer has', async () => {
  const { generationPath } = openDataDirectory(directory)
  const store = new TruthStore(generationPath)
  const writer = store.openWriter({ durability: 'sync', onCommit: () => undefined, onFailure: (failure) => assert.fail(failure) })
  await writer.group(
    () => 1,
    (transaction) => {
      for (let at = 0; at < DOCUMENTS; at++) {
        const document = { ...prepared(`key ${at}`, `content ${at}`, false, null), embeds: true }
        for (const { entry, body } of decidePut(transaction, 'c', document).steps) transaction.apply(entry, body)
      }
    },
  )
  const rows = store.read((view) => view.vectors.queued(0n, DOCUMENTS))
  const embedded = store.read((view) => rows.flatMap((row) => embed(view, row, 'one', true).documents))
  await writer.group(
    () => 1,
    (transaction) => {
      for (const document of embedded) {
        const step = decideVectors(transaction, document)
        if (step !== undefined) transaction.apply(step.entry, step.body)
      }
    },
  )
  const context = { store, vectorEngine: openVectorEngine() }
  const control = ControlBlock.create()
  const load = async (): Promise<number> => {
    beginLoading(context, control, (reason) => assert.fail(reason), new AbortController().signal)
    let turns = 0
    for (; control.vectorsLoading; turns++) await new Promise((resolve) => setImmediate(resolve))
    return turns
  }
  const collection = store.read((view) => view.collection('c')?.id ?? 0)
  const search = (): readonly { readonly docid: number }[] =>
    context.vectorEngine.search({
      ...{ collection, query: new Float32Array([1, 2, 3]), k: DOCUMENTS, threshold: -1, metric: 'cosine' },
      ...{ algorithm: 'flat', oversample: 1, quantization: 'float32' },
    }).hits
  openVectors(context.vectorEngine, generationPath, await store.beginEpoch())
  assert.ok((await load()) >= 3, 'others have had their turns in between')
  assert.equal(search().length, DOCUMENTS)
  assert.equal(await load(), 0, 'nothing is lacking')

  await writer.group(
    () => 1,
    (transaction) => {
      const head = transaction.view.find(collection, 'key 7', 'en')
      assert.ok(head)
      const step = decideDelete(transaction, head)
      assert.deepEqual(step.vectorOp, { kind: 'remove', collection, docid: head.docid, lsn: step.entry.lsn })
      transaction.apply(step.entry, step.body)
    },
  )
  assert.equal(await load(), 0)
  assert.equal(search().length, DOCUMENTS - 1)
  await store.close()
})
