/** The id of one fault of the server. It stands in the answer and in the line of the log about it. */
import { randomBytes } from 'node:crypto'
import { FAULT_ID_BYTES } from './limits/wire.js'

/** @returns hexadecimal digits */
export function newFaultId(): string {
  return randomBytes(FAULT_ID_BYTES).toString('hex')
}
