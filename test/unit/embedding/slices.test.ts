/**
 * Slices of embedding over lanes that the test plays: what was paid for is stored, but no stop waits for it.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EmbeddingSlices } from '../../../src/background/embedding/slices.js'
import type { Dispatcher } from '../../../src/dispatch/dispatcher.js'
import { Refused } from '../../../src/dispatch/inner_request.js'
import type { DispatchRequest } from '../../../src/dispatch/ticket.js'
import type { ErrorCode } from '../../../src/errors.js'
import type { AnyOperation } from '../../../src/operations/row/operation.js'
import type { EmbeddingProvider } from '../../../src/outbound/embedding/provider.js'
import { Telemetry } from '../../../src/telemetry/registry.js'
import type { CutDocuments } from '../../../src/wire/messages/embedding_messages.js'
import { encodeMessage } from '../../../src/wire/messages/messages.js'

const NAMED = { epoch: 'one', documents: [{ collection: 1, docid: 1, queued: 1, force: false }] }
const PROVIDER = { variant: 'v', dimensions: 8, batchMax: 8 } as EmbeddingProvider

/** Lanes that cut one document, which needs no text embedded, and refuse to store while the disk is full. */
class PlayedLanes {
  isFull = true
  refusals = 0
  onRefused = (): void => undefined
  readonly admission = { admitOwn: (operation: AnyOperation) => ({ operation }) }

  submit({ admitted, sink }: DispatchRequest): null {
    const isStore = admitted.operation.name === 'storeVectors'
    if (isStore && this.isFull) {
      this.refusals++
      this.onRefused()
    }
    const code: ErrorCode | null = isStore && this.isFull ? 'diskFull' : null
    const body = isStore ? Buffer.from(JSON.stringify({ settled: 1, isOther: false })) : Buffer.from(encodeMessage(cuts()))
    setImmediate(() => sink.answer({ code, contentType: null, facts: [], isCompressed: false, body }))
    return null
  }
}

function cuts(): CutDocuments {
  const document = { collection: 1, docid: 1, queued: 1n, change: 'keep' } as const
  return { isOther: false, documents: [{ outcome: 'current', document, texts: [], reused: 0 }] }
}

function slicesOf(lanes: PlayedLanes): EmbeddingSlices {
  const telemetry = Telemetry.create([])
  telemetry.claimRow()
  return new EmbeddingSlices(lanes as unknown as Dispatcher, telemetry)
}

describe('a slice of embedding', () => {
  it('slice: vectors are stored once there is space', async () => {
    const lanes = new PlayedLanes()
    lanes.onRefused = () => (lanes.isFull = lanes.refusals < 2)
    const { outcomes } = await slicesOf(lanes).run(PROVIDER, NAMED, new AbortController().signal)
    assert.deepEqual([outcomes, lanes.refusals], [[{ kind: 'skipped' }], 2])
  })

  it('slice: a full disk does not keep a server from ending; the documents stay in the queue', { timeout: 20_000 }, async () => {
    for (const isGivenUp of [false, true]) {
      const lanes = new PlayedLanes()
      const end = new AbortController()
      lanes.onRefused = () => void (lanes.refusals === 2 && end.abort())
      const slices = slicesOf(lanes)
      const slice = isGivenUp ? slices.giveUp(NAMED, end.signal) : slices.run(PROVIDER, NAMED, end.signal)
      await assert.rejects(slice, (error) => error instanceof Refused && error.code === 'diskFull')
      assert.equal(lanes.refusals, 2)
    }
  })
})
