/**
 * The form used by surfaces with their own threads and by the server's own requests: the input is one
 * MessagePack map. Lane threads only.
 */
import { serviceError } from '../../errors.js'
import { unpackInput } from '../../wire/msgpack_input.js'
import type { FormReader } from './form_reader.js'
import { settleNulls, type Input } from './input.js'

export const msgpackForm: FormReader = {
  read(_operation, { body }) {
    if (body.length === 0) return {}
    return settleNulls(mapOf(body))
  },

  compress: () => null,
}

function mapOf(body: Uint8Array): Input {
  let unpacked: unknown
  try {
    unpacked = unpackInput(body)
  } catch {
    throw serviceError('invalid', 'The input is expected to be one MessagePack map.')
  }
  if (typeof unpacked !== 'object' || unpacked === null || Array.isArray(unpacked) || unpacked instanceof Uint8Array)
    throw serviceError('invalid', 'The input is expected to be a MessagePack map with texts as keys.')
  return unpacked as Input
}
