/**
 * Reads the arguments of a call. Models write what a schema does not allow and yet is clear: "true" for true,
 * one string for a list of strings, a number as text, JSON as text. What is not clear is refused with the
 * name of the argument. Pure; any thread.
 */
import { CatalogueError, INVALID_PARAMS } from '../catalogue_error.js'
import type { Argument, ArgumentType } from './argument.js'

export type Arguments = Readonly<Record<string, unknown>>

const TRUE_WORDS = new Set(['true', 'yes', '1'])
const FALSE_WORDS = new Set(['false', 'no', '0'])

/**
 * @returns the given arguments by name; null and absent ones are missing
 * @throws CatalogueError for one that is missing or has another type
 */
export function readArguments(known: readonly Argument[], given: Arguments): Arguments {
  const values: Record<string, unknown> = {}
  // Without a prototype: an argument may be named as one of its members.
  const own = Object.assign(Object.create(null), given) as Arguments
  for (const { name, camelName, field, type, isRequired } of known) {
    // Models that know the HTTP interface write names as it does.
    const value = own[name] ?? own[camelName] ?? own[field ?? name] ?? undefined
    if (value === undefined) {
      if (isRequired) throw badArgument(`missing required argument: ${name}`)
      continue
    }
    values[name] = readValue(name, type, value)
  }
  return values
}

export function badArgument(text: string): CatalogueError {
  return new CatalogueError(INVALID_PARAMS, text)
}

/** @throws CatalogueError */
export function readValue(name: string, type: ArgumentType, value: unknown): unknown {
  const read = READERS[type](value)
  if (read === undefined) throw badArgument(`invalid argument ${name}: ${EXPECTED[type]} expected`)
  return read
}

const EXPECTED: Readonly<Record<ArgumentType, string>> = {
  string: 'a string',
  json: 'JSON text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  strings: 'an array of strings',
  values: 'an object with strings or arrays of strings',
  filter: 'an object with strings or arrays of strings',
}

/** Each returns undefined for a value that it cannot read. */
const READERS: Readonly<Record<ArgumentType, (value: unknown) => unknown>> = {
  string: (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : ofType('string', value)),
  json: (value) => (typeof value === 'object' ? JSON.stringify(value) : ofType('string', value)),
  integer: (value) => {
    const number = numberOf(value)
    return Number.isSafeInteger(number) ? number : undefined
  },
  number: numberOf,
  boolean: booleanOf,
  object: (value) => objectOf(parsed(value)),
  array: (value) => {
    const list = parsed(value)
    return Array.isArray(list) ? list : undefined
  },
  strings: (value) => {
    const list = parsed(value)
    return listOf(Array.isArray(list) ? list : [list])
  },
  values: (value) => valuesOf(parsed(value)),
  filter: (value) => filterOf(parsed(value)),
}

function ofType(type: string, value: unknown): unknown {
  return typeof value === type ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 0) return value === 1
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : undefined
}

/** An object or a list that came as JSON text. Other values stay as they are. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    // Not JSON: refused as a string.
    return value
  }
}

function objectOf(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

function listOf(values: readonly unknown[]): readonly string[] | undefined {
  const texts = values.map((item) => READERS.string(item))
  return texts.includes(undefined) ? undefined : (texts as readonly string[])
}

/** As `valuesOf`; null is a list without values, which admits nothing. Left out, it would admit all. */
function filterOf(value: unknown): Readonly<Record<string, readonly string[]>> | undefined {
  const object = objectOf(value)
  return object && valuesOf(Object.fromEntries(Object.entries(object).map(([key, item]) => [key, item ?? []])))
}

/** Every value becomes a list: numbers and booleans as their texts. */
function valuesOf(value: unknown): Readonly<Record<string, readonly string[]>> | undefined {
  const object = objectOf(value)
  if (object === undefined) return undefined
  const entries = Object.entries(object)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => [key, listOf(Array.isArray(item) ? item : [item])] as const)
  if (entries.some(([, list]) => list === undefined)) return undefined
  return Object.fromEntries(entries) as Readonly<Record<string, readonly string[]>>
}
