/**
 * Arguments of tools and prompts: what is written once for each, and the JSON Schema that follows from it.
 * Pure data; any thread.
 */

/**
 * `strings`: a list of strings. `values`: metadata, whose values are lists of strings. `filter`: the same as
 * a filter. `json`: a string with JSON. Readers accept more than the schema says (argument_values.ts).
 */
export type ArgumentType = 'string' | 'json' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'strings' | 'values' | 'filter'

export type JsonSchema = Readonly<Record<string, unknown>>

export interface Argument {
  readonly name: string
  /** The name in camelCase. */
  readonly camelName: string
  readonly type: ArgumentType
  readonly description: string
  readonly isRequired: boolean
  /** Field of the operation's input. Null: the tool itself reads it. */
  readonly field: string | null
  readonly fallback?: unknown
  /** Of an `array`. */
  readonly items?: JsonSchema
  readonly examples?: readonly unknown[]
  /** Known values of a string. Others pass: the operation has its own answer to them. */
  readonly known?: readonly string[]
}

type Options = Partial<Pick<Argument, 'field' | 'fallback' | 'items' | 'examples' | 'known'>>

/**
 * @param name in snake_case; the field of the input has the same name in camelCase unless the options say
 * otherwise
 */
export function argument(name: string, type: ArgumentType, description: string, options: Options = {}): Argument {
  const camelName = camelCase(name)
  return { name, camelName, type, description, isRequired: false, field: camelName, ...options }
}

export function required(given: Argument): Argument {
  return { ...given, isRequired: true }
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Unknown arguments are ignored, so the schema does not refuse them. */
export function inputSchemaOf(all: readonly Argument[]): JsonSchema {
  const needed = all.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(all.map((one) => [one.name, schemaOf(one)])),
    ...(needed.length > 0 ? { required: needed } : {}),
  }
}

const LIST_OF_STRINGS = { type: 'array', items: { type: 'string' } }

function schemaOf({ type, description, fallback, items, examples, known }: Argument): JsonSchema {
  return {
    ...shapeOf(type, items),
    description: known === undefined ? description : `${description} One of: ${known.join(', ')}.`,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(examples === undefined ? {} : { examples }),
  }
}

function shapeOf(type: ArgumentType, items: JsonSchema = {}): JsonSchema {
  switch (type) {
    case 'array':
      return { type, items }
    case 'strings':
      return LIST_OF_STRINGS
    case 'values':
    case 'filter':
      return { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, LIST_OF_STRINGS] } }
    case 'json':
      return { type: 'string' }
    default:
      return { type }
  }
}
