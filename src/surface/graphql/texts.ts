/**
 * Errors of fields in the form of GraphQL: code of the catalogue's column, and the texts that the contract
 * has for this protocol (service-2, "Errors"). Pure.
 */
import { GraphQLError } from 'graphql'
import { entryOf, type ErrorCode } from '../../errors.js'

const UNAUTHENTICATED = 'unauthenticated: missing or invalid credentials'

/** Instead of those of the catalogue. */
const TEXTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  missingAuthentication: UNAUTHENTICATED,
  invalidToken: UNAUTHENTICATED,
  invalidApiKey: UNAUTHENTICATED,
  adminRequired: 'forbidden: admin privileges required',
  forbidden: 'permission denied',
  invalidCredentials: 'authentication failed',
}

export const BATCH_TEXT = 'several requests in one are not supported'
export const NO_QUERY_TEXT = 'query is required'
export const ANSWERS_TEXT = 'too many bytes of answers in one request'

/** @param text of the refusal; default: that of the catalogue */
export function fieldError(code: ErrorCode, text: string = entryOf(code).text): GraphQLError {
  return codedError(TEXTS[code] ?? text, entryOf(code).graphql)
}

/** For a field whose operation this version does not have. */
export function unimplemented(field: string): GraphQLError {
  return codedError(`${field} is not in this version`, 'UNIMPLEMENTED')
}

/** The error with other words or another code, at the same place of the document. */
export function reworded(error: GraphQLError, text: string, extensions: Readonly<Record<string, unknown>>): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error
  return new GraphQLError(text, { nodes, source, positions, path, extensions })
}

/** Without a stack: nobody logs it, and it takes longer than the field. */
function codedError(text: string, code: string): GraphQLError {
  const depth = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const error = new GraphQLError(text, { extensions: { code } })
  Error.stackTraceLimit = depth
  return error
}
