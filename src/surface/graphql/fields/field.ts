/**
 * A field of Query or Mutation: how its arguments become the input of its operation, and the answer its
 * value. Which operation that is, is said by the row (`protocols.graphql`). Pure.
 */
import type { Operation } from '../../../operations/row/operation.js'
import type { Answered, Caller, Maybe } from '../caller.js'

/** Arguments as the schema has read them. */
export type Arguments = Readonly<Record<string, unknown>>

/** The request, bound to the operation of the field. */
interface FieldCall {
  readonly caller: Caller
  readonly operation: Operation
}

export type Resolve = (args: Arguments, call: FieldCall) => unknown

/** Keys and values as the schema has them, a list. */
interface MetaInput {
  readonly key: string
  readonly values: readonly string[]
}

/** A field that passes its arguments on. */
export function asked(valueOf: (answered: Answered) => unknown, inputOf: (args: Arguments) => object = (args) => args): Resolve {
  return (args, { caller, operation }) => then(caller.ask(operation, inputOf(args)), valueOf)
}

/** As `asked`, for a field with one argument `input`. */
export function askedByInput(valueOf: (answered: Answered) => unknown): Resolve {
  return asked(valueOf, ({ input }) => withMaps(input as Arguments))
}

export function then<From, To>(value: Maybe<From>, convert: (value: From) => To): Maybe<To> {
  return value instanceof Promise ? value.then(convert) : convert(value)
}

export const whole = ({ value }: Answered): unknown => value
export const isDone = (): boolean => true

/** @param name of a list in the answer */
export function listOf(name: string): (answered: Answered) => unknown {
  return ({ value }) => (value as Arguments)[name]
}

/** Lists of keys and values become maps, as the operations have them. */
export function withMaps(input: Arguments): object {
  const maps: Record<string, unknown> = {}
  for (const name of ['meta', 'filterMeta']) if (Array.isArray(input[name])) maps[name] = mapOf(input[name] as readonly MetaInput[])
  return { ...input, ...maps }
}

/** A key that comes twice has the values of both. */
function mapOf(list: readonly MetaInput[]): object {
  const map = new Map<string, string[]>()
  for (const { key, values } of list) map.set(key, [...(map.get(key) ?? []), ...values])
  // From entries: an assignment to a key named `__proto__` would be lost.
  return Object.fromEntries(map)
}
