/** Scalars of the schema: times as RFC 3339 text, JSON objects, wide whole numbers, raw texts. Pure. */
import { GraphQLError, GraphQLScalarType, type GraphQLSchema, Kind, valueFromASTUntyped } from 'graphql'
import { RawText } from './raw_text.js'

/** RFC 3339: date, time, offset. Fractions of a second are cut off. */
const TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const MS = 1000

/** Replaces the scalars as the schema's text declares them. */
export function installScalars(schema: GraphQLSchema): void {
  const time = scalarOf(schema, 'Time')
  time.serialize = (seconds) => textOf(new Date(Number(seconds) * MS).toISOString())
  time.parseValue = secondsOf
  time.parseLiteral = (node) => secondsOf(node.kind === Kind.STRING ? node.value : null)
  const json = scalarOf(schema, 'JSONObject')
  json.parseValue = objectOf
  json.parseLiteral = (node, variables) => objectOf(valueFromASTUntyped(node, variables))
  const string = scalarOf(schema, 'String')
  const plain = string.serialize
  string.serialize = (value) => (value instanceof RawText ? value : plain(value))
  // Sizes in bytes and counts have up to 53 bits. Clients in Go, for which the schema was made, read 64.
  const int = scalarOf(schema, 'Int')
  const narrow = int.serialize
  int.serialize = (value) => (Number.isSafeInteger(value) ? value : narrow(value))
}

function scalarOf(schema: GraphQLSchema, name: string): GraphQLScalarType {
  const type = schema.getType(name)
  if (!(type instanceof GraphQLScalarType)) throw new Error(`${name} is not a scalar of the schema`)
  return type
}

/** Without the milliseconds, which the last five characters are. */
function textOf(iso: string): string {
  return `${iso.slice(0, -'.000Z'.length)}Z`
}

/** @returns Unix seconds */
function secondsOf(value: unknown): number {
  const found = typeof value === 'string' ? TIME.exec(value) : null
  const ms = found === null ? NaN : Date.parse(`${found[1]!}T${found[2]!}${found[4]!.toUpperCase()}`)
  if (Number.isNaN(ms)) throw new GraphQLError('Time must be RFC 3339 text, such as 2026-01-31T12:00:00Z')
  return Math.floor(ms / MS)
}

function objectOf(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new GraphQLError('JSONObject must be an object')
  return value
}
