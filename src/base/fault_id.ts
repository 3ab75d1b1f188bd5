/** The id of one fault of the server. It stands in the answer and in the line of the log about it. */
import { randomBytes } from 'node:crypto'

/**
 * Random bytes of the id of a fault: among a million faults, two have the same one with a probability of
 * 3e-8.
 */
const FAULT_ID_BYTES = 8

/** @returns hexadecimal digits */
export function newFaultId(): string {
  return randomBytes(FAULT_ID_BYTES).toString('hex')
}
