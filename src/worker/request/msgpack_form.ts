/**
 * The form used by surfaces with their own threads and by the server's own requests: the input is one
 * MessagePack map. Lane threads only.
 */
import { badRequest, serviceError } from '../../errors.js'
import { EXCESS_TEXTS } from '../../wire/json_bounds.js'
import { unpackInput } from '../../wire/msgpack_input.js'
import { scanMsgpack } from '../../wire/msgpack_scan.js'
import type { FormReader } from './form_reader.js'
import { type Input, settleNulls } from './input.js'

const NO_MAP = 'The input is expected to be one MessagePack map.'

export const msgpackForm: FormReader = {
  read(_operation, { body }) {
    if (body.length === 0) return {}
    return settleNulls(mapOf(body))
  },

  compress: () => null,
}

function mapOf(body: Uint8Array): Input {
  const { verdict } = scanMsgpack(body)
  if (verdict === 'invalid') throw serviceError('invalid', NO_MAP)
  if (verdict !== 'good') throw badRequest(EXCESS_TEXTS[verdict])
  let unpacked: unknown
  try {
    unpacked = unpackInput(body)
  } catch {
    throw serviceError('invalid', NO_MAP)
  }
  if (typeof unpacked !== 'object' || unpacked === null || Array.isArray(unpacked) || unpacked instanceof Uint8Array)
    throw serviceError('invalid', 'The input is expected to be a MessagePack map with texts as keys.')
  return unpacked as Input
}
