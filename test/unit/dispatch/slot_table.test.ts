/** Slots of requests: what one surface may take of them, and what is reserved for answers in parts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { shareOf } from '../../../src/dispatch/queue/shares.js'
import { SLOTS_FOR_PARTS, SlotTable } from '../../../src/dispatch/queue/slot_table.js'
import { OWN, type Surface } from '../../../src/dispatch/surface.js'
import type { Ticket } from '../../../src/dispatch/ticket.js'
import { SLOTS_MAX } from '../../../src/limits/lanes.js'
import { ControlBlock } from '../../../src/wire/control_block.js'

const surfaceOf = (index: number): Surface => ({ name: `s${index}`, mode: 'wr', index })
const ticketOf = (surface: Surface, stream = 0): Ticket => ({ surface, stream, slot: -1, generation: 0 }) as unknown as Ticket

/** Takes slots until one is refused. */
function takeAll(slots: SlotTable, surface: Surface, stream = 0): Ticket[] {
  const taken: Ticket[] = []
  for (let ticket = ticketOf(surface, stream); slots.take(ticket); ticket = ticketOf(surface, stream)) taken.push(ticket)
  return taken
}

it('slots: a flood on one surface leaves a share for each other one, and gives it back', () => {
  const slots = new SlotTable(ControlBlock.create(), 3)
  const flood = takeAll(slots, surfaceOf(1))
  const places = SLOTS_MAX - SLOTS_FOR_PARTS
  assert.equal(flood.length, places - 2 * shareOf(places, 3))
  assert.equal(slots.take(ticketOf(OWN)), false)
  assert.equal(takeAll(slots, surfaceOf(2)).length, shareOf(places, 3))
  assert.equal(takeAll(slots, surfaceOf(3)).length, shareOf(places, 3))
  slots.release(flood.pop() as Ticket)
  assert.equal(slots.take(ticketOf(surfaceOf(1))), true)
  assert.equal(slots.take(ticketOf(surfaceOf(1))), false)
})

it('slots: a full table still takes the requests for further parts of answers', () => {
  const slots = new SlotTable(ControlBlock.create())
  assert.equal(takeAll(slots, surfaceOf(1)).length, SLOTS_MAX - SLOTS_FOR_PARTS)
  assert.equal(takeAll(slots, OWN).length, 0)
  assert.equal(takeAll(slots, surfaceOf(1), 7).length, SLOTS_FOR_PARTS)
})
