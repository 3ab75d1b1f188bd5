/** The texts of gRPC that differ from those of the catalogue (errors.ts): clients match some of them. */

/** Of a request without a required field. */
export const MISSING_FIELDS = 'missing required fields'

export const GRPC_TEXTS = {
  notFound: 'document not found',
  unimplemented: 'not implemented by this version of the server',
} as const
