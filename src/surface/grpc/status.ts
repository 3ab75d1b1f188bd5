/**
 * Refusals as gRPC statuses: the code is that of the catalogue's column, the details are its text, or the
 * text of gRPC where clients match another one. Pure.
 */
import { Metadata, status } from '@grpc/grpc-js'
import type { ErrorCode } from '../../errors.js'
import { CATALOGUE, entryOf } from '../../errors.js'
import type { Facts, OutgoingAnswer } from '../../wire/answer.js'
import { factOf, textOf } from '../../wire/answer.js'

/** Of a request without a required field. */
const MISSING_FIELDS = 'missing required fields'

/** Other texts of gRPC that differ from those of the catalogue (errors.ts). */
const GRPC_TEXTS = {
  notFound: 'document not found',
  unimplemented: 'not implemented by this version of the server',
} as const

export interface Refusal {
  readonly code: status
  readonly details: string
  readonly metadata?: Metadata
}

/**
 * @param body `{"error": text}`; absent: the text of the catalogue
 * @param missing the text of a missing field
 */
export function refusalOf(code: ErrorCode, body?: OutgoingAnswer['body'], facts: Facts = [], missing = MISSING_FIELDS): Refusal {
  const { grpc, retryAfterSeconds } = entryOf(code)
  const seconds = factOf(facts, 'retryAfterSeconds') ?? retryAfterSeconds?.toString()
  const metadata = new Metadata()
  if (seconds !== undefined) metadata.set('retry-after', seconds)
  return { code: status[grpc as keyof typeof status], details: detailsOf(code, body, missing), metadata }
}

export const UNIMPLEMENTED: Refusal = { code: status.UNIMPLEMENTED, details: GRPC_TEXTS.unimplemented }

function detailsOf(code: ErrorCode, body: OutgoingAnswer['body'] | undefined, missing: string): string {
  const text = body === undefined ? CATALOGUE[code].text : (JSON.parse(textOf({ body })) as { readonly error: string }).error
  if (code === 'missingFields') return missing
  return code === 'notFound' && text === CATALOGUE.notFound.text ? GRPC_TEXTS.notFound : text
}
