/**
 * Messages across the thread boundary are decoded as they were encoded, and the queue and slots keep their
 * order and their limits. fast-check prints seeds on failure.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ANONYMOUS, type Principal, SYSTEM } from '../../../src/access/principal.js'
import { RequestQueue } from '../../../src/dispatch/queue/request_queue.js'
import { SlotTable } from '../../../src/dispatch/queue/slot_table.js'
import type { Ticket } from '../../../src/dispatch/ticket.js'
import { ERROR_CODES } from '../../../src/errors.js'
import { operations } from '../../../src/operations/index.js'
import { AnswerEncoder, decodeAnswers, INLINE_ANSWER_BYTES_MAX, type LaneAnswer } from '../../../src/wire/answer_codec.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { releaseEnvelope } from '../../../src/wire/envelope.js'
import { ENVELOPE_BLOCK_BYTES, EnvelopeBlocks, LARGE_BLOCK_BYTES } from '../../../src/wire/envelope_blocks.js'
import { FORMS } from '../../../src/wire/form.js'
import { decodeRequests, encodeRequests, INLINE_BODY_BYTES_MAX } from '../../../src/wire/request_codec.js'
import { SURFACE } from '../../harness/dispatching.js'
import { holds } from '../../harness/property.js'

// Bodies on both sides of the size limits between copied and transferred.
const body = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.nat(3 * INLINE_BODY_BYTES_MAX).map((length) => new Uint8Array(length).fill(length & 255)),
  fc.integer({ min: -1, max: 1 }).map((beside) => new Uint8Array(INLINE_ANSWER_BYTES_MAX + beside).fill(7)),
)
// In shared memory, or each in a separate buffer. With few blocks a leaked envelope is noticed.
const blocks = fc.constantFrom(EnvelopeBlocks.create(2), EnvelopeBlocks.create(2, 1), null)

function ticketOf(change: Partial<Ticket> = {}): Ticket {
  return {
    operation: operations[0]!,
    operationIndex: 0,
    input: { form: 'json', head: '', params: [], mayCompress: false },
    principal: ANONYMOUS,
    client: undefined,
    surface: SURFACE,
    receivedAt: 0,
    deadlineAt: 1,
    limitMs: 1,
    bodyBytes: 0,
    slot: 0,
    generation: 0,
    queue: 'point',
    stream: 0,
    holdsAnswer: false,
    queuedAt: 0,
    body: null,
    direct: false,
    batch: 0,
    onCommitted: null,
    sink: null,
    audit: null,
    ...change,
  }
}

describe('envelope', () => {
  it('a principal of a kind that is not known is not taken for another one', () => {
    const root = { kind: 'root', name: '' } as unknown as Principal
    const envelope = encodeRequests([ticketOf({ principal: root })], 0, null)
    assert.throws(() => decodeRequests(envelope, null), /no kind 255 of principals/)
  })

  it('a batch of requests is decoded as it was encoded', () => {
    const one = fc.record(
      {
        slot: fc.nat(0xffff),
        generation: fc.nat(0xffffffff),
        operationIndex: fc.nat(0xffff),
        mayCompress: fc.boolean(),
        form: fc.constantFrom(...FORMS),
        principal: fc.constantFrom<Principal>(ANONYMOUS, SYSTEM, { kind: 'anonymous', name: 'ada \u00fc' }),
        direct: fc.boolean(),
        commit: fc.boolean(),
        stream: fc.nat(0xffffffff),
        head: fc.string({ unit: 'grapheme' }),
        params: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }),
        body,
      },
      { noNullPrototype: true },
    )
    holds(
      fc.property(fc.array(one, { maxLength: 20 }), blocks, (requests, shared) => {
        const envelope = encodeRequests(
          requests.map(({ commit, form, head, params, mayCompress, ...request }) =>
            ticketOf({ ...request, input: { form, head, params, mayCompress }, queue: commit ? 'commit' : 'prepare', queuedAt: 0.5 }),
          ),
          1_000,
          shared,
        )
        const decoded = decodeRequests(structuredClone(envelope), shared).map((request) => ({
          ...request,
          body: new Uint8Array(request.body),
        }))
        releaseEnvelope(envelope, shared)
        assert.deepEqual(
          decoded,
          requests.map(({ direct, commit, ...request }) => ({
            ...request,
            isCommand: commit && !direct,
            isDirect: direct,
            audited: { collections: [], key: '' },
            queuedAt: 1_000.5,
          })),
        )
      }),
    )
  })

  it('answers are decoded as they were encoded', () => {
    const one = fc.record(
      {
        slot: fc.nat(0xffff),
        generation: fc.nat(0xffffffff),
        kind: fc.constantFrom('answer', 'forward', 'dropped', 'message'),
        code: fc.option(fc.constantFrom(...ERROR_CODES)),
        contentType: fc.option(fc.string()),
        facts: fc.array(fc.string(), { maxLength: 6 }),
        isCompressed: fc.boolean(),
        collections: fc.array(fc.string(), { maxLength: 3 }),
        key: fc.string(),
        stream: fc.nat(0xffffffff),
        body,
      },
      { noNullPrototype: true },
    ) as fc.Arbitrary<LaneAnswer>
    holds(
      fc.property(fc.array(one, { maxLength: 12 }), blocks, (answers, shared) => {
        const encoder = new AnswerEncoder(shared)
        for (const answer of answers) encoder.add({ ...answer, body: new Uint8Array(answer.body) })
        assert.equal(encoder.count, answers.length)
        const envelope = encoder.finish()
        assert.equal(encoder.count, 0)
        const received = structuredClone(envelope)
        const decoded = decodeAnswers(received, shared)
        const plain = decoded.map(({ owned: _, ...answer }) => ({ ...answer, body: new Uint8Array(answer.body) }))
        releaseEnvelope(envelope, shared)
        assert.deepEqual(plain, answers)
        // Who releases a body frees that of no other answer.
        const owned = decoded.filter((answer) => answer.owned !== undefined)
        for (const answer of owned) assert.equal(answer.owned, answer.body.buffer)
        const buffers = [...owned.map((answer) => answer.owned), ...(received.frames instanceof Uint8Array ? [received.frames.buffer] : [])]
        assert.equal(new Set(buffers).size, buffers.length)
      }),
    )
  })

  it('blocks are given out once, back once, and never for more than they hold', () => {
    const shared = EnvelopeBlocks.create(2)
    const first = shared.put(new Uint8Array(ENVELOPE_BLOCK_BYTES).fill(1))
    const second = shared.put(new Uint8Array([2]))
    assert.ok(first !== null && second !== null)
    assert.equal(shared.put(new Uint8Array([3])), null, 'both are taken')
    assert.deepEqual(new Set(shared.view(first)), new Set([1]))
    assert.deepEqual([...shared.view(second)], [2])
    new EnvelopeBlocks(shared.memory).release(first)
    assert.equal(shared.put(new Uint8Array(ENVELOPE_BLOCK_BYTES + 1)), null)
    const third = shared.put(new Uint8Array([3]))
    assert.ok(third !== null)
    assert.deepEqual([...shared.view(third)], [3])
    assert.deepEqual([...shared.view(second)], [2])
  })

  it('a large body takes a large block, on either thread, and small ones take it last', () => {
    const shared = EnvelopeBlocks.create(1, 1)
    const other = new EnvelopeBlocks(shared.memory)
    const large = shared.put(new Uint8Array(LARGE_BLOCK_BYTES).fill(7))
    assert.ok(large !== null)
    assert.equal(shared.put(new Uint8Array(ENVELOPE_BLOCK_BYTES + 1)), null, 'the large one is taken')
    const small = shared.put(new Uint8Array([1]))
    assert.ok(small !== null)
    assert.deepEqual(new Set(other.view(large)), new Set([7]))
    assert.deepEqual([...other.view(small)], [1])
    other.release(large)
    const again = shared.put(new Uint8Array([2]))
    assert.deepEqual(again, { block: large.block, bytes: 1 })
    assert.equal(shared.put(new Uint8Array(LARGE_BLOCK_BYTES + 1)), null)
  })
})

describe('queue and slots', () => {
  it('a queue returns its items in order, and is full at its bound', () => {
    holds(
      fc.property(fc.array(fc.boolean(), { maxLength: 2_000 }), (pushes) => {
        const queue = new RequestQueue(100)
        const model: Ticket[] = []
        for (const push of pushes) {
          if (push && !queue.isFullFor(SURFACE)) {
            const ticket = ticketOf()
            queue.push(ticket)
            model.push(ticket)
          } else if (!push) {
            assert.equal(queue.shift(), model.shift())
          }
          assert.equal(queue.length, model.length)
          assert.equal(queue.peek(), model[0])
          assert.equal(queue.isFullFor(SURFACE), model.length >= 100)
        }
      }),
    )
  })

  it('a flood on one surface takes no share of another, and does not delay it by more than one turn', () => {
    const [flooding, other] = [SURFACE, { ...SURFACE, name: 'other', index: 2 }]
    holds(
      fc.property(fc.array(fc.constantFrom('flood', 'other', 'take'), { maxLength: 2_000 }), (steps) => {
        const queue = new RequestQueue(64, 2)
        const waiting = { flood: 0, other: 0 }
        let turnsSinceOther = 0
        for (const step of steps) {
          if (step === 'take') {
            const taken = queue.shift()
            const isOther = taken?.surface === other
            turnsSinceOther = isOther || waiting.other === 0 ? 0 : turnsSinceOther + 1
            assert.ok(turnsSinceOther <= 1, 'another surface waits while the flood is served twice')
            if (taken !== undefined) waiting[isOther ? 'other' : 'flood']--
            continue
          }
          const surface = step === 'flood' ? flooding : other
          if (queue.isFullFor(surface)) continue
          queue.push(ticketOf({ surface }))
          waiting[step]++
        }
        assert.equal(queue.length, waiting.flood + waiting.other)
        while (!queue.isFullFor(flooding)) queue.push(ticketOf({ surface: flooding }))
        assert.equal(queue.isFullFor(other), waiting.other >= 56 || queue.length >= 64, 'the flood leaves a share')
      }),
    )
  })

  it('a frame finds its request by slot and generation, and never one that has taken the slot since', () => {
    const slots = new SlotTable(ControlBlock.create())
    const first = ticketOf()
    assert.ok(slots.take(first))
    const { slot, generation } = first
    slots.control.setStopped(slot, true)
    assert.equal(slots.find(slot, generation), first)
    slots.release(first)
    assert.equal(slots.find(slot, generation), null)
    const second = ticketOf()
    assert.ok(slots.take(second))
    assert.equal(second.slot, slot)
    assert.equal(slots.control.isStopped(slot), false, 'the stop word of the one before does not reach it')
    assert.equal(slots.find(slot, generation), null)
    assert.equal(slots.find(slot, second.generation), second)
  })
})
