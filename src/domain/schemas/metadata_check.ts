/**
 * Validates metadata against a schema. Every error names key and rule, in the order of `required`, then of
 * the keys. Messages: algorithms.md, section 13. The time is bounded: patterns are linear, and the number of
 * pattern steps per document is limited. Pure; any lane.
 */
import { MIB } from '../../limits/units.js'
import type { Metadata } from '../documents/metadata.js'
import type { CollectionSchema, FieldRules, ValueType } from './collection_schema.js'
import { compilePattern } from './patterns.js'

/**
 * Instructions x characters that the patterns of one document may cost: 0.5 s at worst. For a pattern of ten
 * instructions that allows 25 MB of values.
 */
const SCHEMA_PATTERN_STEPS_MAX = 256 * MIB
/** Errors, and warnings, of one document. */
const SCHEMA_ERRORS_MAX = 50
/** Characters of a value or a key that an error text shows. */
const SCHEMA_TEXT_SHOWN_MAX = 80

type Values = Metadata['values']

/** Empty if the metadata is valid; at most `SCHEMA_ERRORS_MAX` messages. */
export function schemaErrors(schema: CollectionSchema, values: Values): readonly string[] {
  const given = new Map(values)
  const check = new Check()
  for (const key of schema.required) {
    if ((given.get(key) ?? []).length === 0) check.fail(`missing required field ${quoted(key)}`)
  }
  for (const rules of schema.fields) {
    const texts = given.get(rules.key)
    if (texts !== undefined) check.field(rules, texts)
  }
  return check.errors
}

class Check {
  readonly errors: string[] = []
  #stepsLeft = SCHEMA_PATTERN_STEPS_MAX

  fail(text: string): void {
    if (this.errors.length < SCHEMA_ERRORS_MAX) this.errors.push(text)
  }

  field({ key, type, enum: allowed, pattern, minItems, maxItems }: FieldRules, texts: readonly string[]): void {
    const count = `field ${quoted(key)} has ${texts.length} value${texts.length === 1 ? '' : 's'}`
    if (texts.length < minItems) this.fail(`${count}, minimum ${minItems} (minItems)`)
    if (maxItems > 0 && texts.length > maxItems) this.fail(`${count}, maximum ${maxItems} (maxItems)`)
    for (const text of texts) {
      if (this.errors.length >= SCHEMA_ERRORS_MAX) return
      const value = `field ${quoted(key)}: value ${quoted(text)}`
      if (type !== undefined && !isOfType(type, text)) this.fail(`${value} is not a valid ${type} (type)`)
      if (allowed !== undefined && !allowed.has(text)) this.fail(`${value} not in allowed values ${shown(allowed)} (enum)`)
      if (pattern !== undefined) this.#pattern(pattern, text, value)
    }
  }

  #pattern(source: string, text: string, value: string): void {
    const { pattern } = compilePattern(source)
    // The pattern compiled when the schema was set. It can fail now only with another version of the package;
    // then no value matches.
    const steps = pattern === undefined ? 0 : pattern.instructions * text.length
    this.#stepsLeft -= steps
    if (pattern !== undefined && this.#stepsLeft < 0) this.fail(`${value} is too much text for its pattern (pattern)`)
    else if (pattern?.test(text) !== true) this.fail(`${value} does not match pattern ${quoted(source)}`)
  }
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const INTEGER = /^[+-]?\d+$/

function isOfType(type: ValueType, text: string): boolean {
  switch (type) {
    case 'string':
      return true
    case 'number':
      return NUMBER.test(text)
    case 'integer':
      return INTEGER.test(text)
    case 'boolean':
      return text === 'true' || text === 'false'
  }
}

/**
 * A list of maps, or a map, printed by a program instead of written as JSON: `[map[q:Why a:Because]]`. The
 * original structure cannot be recovered.
 */
const PRINTED_MAP = /^map\[[^\]\s:]+:[^]*\]$/
const PRINTED_LIST = /^\[map\[[^]*\]\s*\]$/
/** Characters of `map[a:1]`, the shortest printed map with a value. */
const PRINTED_CHARACTERS_MIN = 8

/**
 * One message for each value that looks like a printed map or list of maps, by key and value; at most
 * `SCHEMA_ERRORS_MAX`.
 */
export function metadataWarnings(values: Values): readonly string[] {
  const warnings: string[] = []
  for (const [key, texts] of values) {
    for (const text of [...new Set(texts)].sort()) {
      const kind = printedKind(text)
      if (kind !== undefined && warnings.length < SCHEMA_ERRORS_MAX)
        warnings.push(
          `meta.${key}: value ${quoted(text)} looks like a stringified ${kind}; JSON text or a key for each leaf keeps what is in it`,
        )
    }
  }
  return warnings
}

function printedKind(text: string): string | undefined {
  if (text.length < PRINTED_CHARACTERS_MIN) return undefined
  if (PRINTED_LIST.test(text)) return 'list of maps'
  return PRINTED_MAP.test(text) ? 'map' : undefined
}

function quoted(text: string): string {
  const whole = [...text.slice(0, 2 * SCHEMA_TEXT_SHOWN_MAX)]
  return `"${whole.length > SCHEMA_TEXT_SHOWN_MAX ? `${whole.slice(0, SCHEMA_TEXT_SHOWN_MAX).join('')}…` : text}"`
}

function shown(allowed: ReadonlySet<string>): string {
  const values = [...allowed]
  return `[${values.slice(0, 10).map(quoted).join(', ')}${values.length > 10 ? ', …' : ''}]`
}
