/**
 * Tools that the operator declares in the file that SVC_MCP_CONFIG names (`custom_tools:`): a search with
 * fixed defaults under a name of its own. The file is read on the main thread at the start; a wrong one stops
 * the start with one line. Calls run in the thread of MCP (custom_calls.ts).
 */
import { ConfigError } from '../../../config/sources.js'
import { readYamlValue } from '../../../config/yaml_file.js'
import { BUILTIN_TOOLS } from './builtin_tools.js'

/** Custom tools in the file of SVC_MCP_CONFIG: models choose badly among more than some dozens. */
const CUSTOM_TOOLS_MAX = 256
/** Parameters of one of them. The tool with most arguments has 18. */
const CUSTOM_PARAMETERS_MAX = 64
/** Characters of the name of a tool, as MCP recommends. */
const TOOL_NAME_CHARS_MAX = 128
/** Characters of the description of a custom tool or a parameter. */
const TOOL_DESCRIPTION_CHARS_MAX = 4_096

const CUSTOM_ACTIONS = ['semantic_search', 'search_documents', 'full_text_search', 'fts_languages'] as const
type CustomAction = (typeof CUSTOM_ACTIONS)[number]

const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean', 'object'] as const
type ParameterType = (typeof PARAMETER_TYPES)[number]

/** What a default may be for, with the type of its value. */
const DEFAULT_TYPES = {
  collection: 'string',
  query: 'string',
  topK: 'integer',
  threshold: 'number',
  includeContent: 'boolean',
  fields: 'strings',
  sort: 'string',
  asc: 'boolean',
  limit: 'integer',
  offset: 'integer',
  filterMeta: 'filter',
  hasMeta: 'strings',
} as const
type DefaultName = keyof typeof DEFAULT_TYPES

interface CustomParameter {
  readonly name: string
  readonly type: ParameterType
  readonly required: boolean
  readonly description: string
}

/** Plain data; it crosses threads. */
export interface CustomTool {
  readonly name: string
  readonly description: string
  readonly action: CustomAction
  readonly defaults: Readonly<Partial<Record<DefaultName, unknown>>>
  readonly parameters: readonly CustomParameter[]
}

type Fields = Readonly<Record<string, unknown>>

/**
 * @param path of the file; empty: there are no custom tools
 * @throws ConfigError whose text is one line
 */
export function loadCustomTools(path: string): readonly CustomTool[] {
  if (path === '') return []
  const file = readYamlValue(path)
  const refuse = (text: string): never => {
    throw new ConfigError(`${path}: ${text}`)
  }
  if (file === null || file === undefined) return []
  if (!isFields(file)) return refuse('a map with custom_tools expected')
  const listed = file.custom_tools ?? []
  if (!Array.isArray(listed)) return refuse('custom_tools: a list expected')
  if (listed.length > CUSTOM_TOOLS_MAX) return refuse(`custom_tools: at most ${CUSTOM_TOOLS_MAX} tools expected`)
  const names = new Set<string>()
  return listed.map((item: unknown, index) => {
    const tool = readTool(item, (text) =>
      refuse(`custom_tools[${index}]${isFields(item) && typeof item.name === 'string' ? ` ${item.name}` : ''}: ${text}`),
    )
    if (BUILTIN_TOOLS.some(({ name }) => name === tool.name))
      refuse(`custom_tools[${index}]: ${tool.name} is the name of a tool of the server`)
    if (names.has(tool.name)) refuse(`custom_tools[${index}]: there are two tools named ${tool.name}`)
    names.add(tool.name)
    return tool
  })
}

function readTool(item: unknown, refuse: (text: string) => never): CustomTool {
  if (!isFields(item)) return refuse('a map expected')
  const { name, description, action, defaults = {}, parameters = [] } = withoutNulls(item)
  if (typeof name !== 'string' || !new RegExp(`^[\\w.-]{1,${TOOL_NAME_CHARS_MAX}}$`).test(name))
    return refuse(`name: 1 to ${TOOL_NAME_CHARS_MAX} letters, digits, "_", "-" and "." expected`)
  if (description === '' || !isDescription(description))
    return refuse(`description: a text of at most ${TOOL_DESCRIPTION_CHARS_MAX} characters expected`)
  const known = CUSTOM_ACTIONS.find((each) => each === action)
  if (known === undefined) return refuse(`action: one of ${CUSTOM_ACTIONS.join(', ')} expected, got ${JSON.stringify(action)}`)
  if (!isFields(defaults)) return refuse('defaults: a map expected')
  if (!Array.isArray(parameters)) return refuse('parameters: a list expected')
  if (parameters.length > CUSTOM_PARAMETERS_MAX) return refuse(`parameters: at most ${CUSTOM_PARAMETERS_MAX} expected`)
  const read = parameters.map((each: unknown, index) => readParameter(each, (text) => refuse(`parameters[${index}]: ${text}`)))
  if (new Set(read.map((parameter) => parameter.name)).size < read.length) return refuse('parameters: there are two of one name')
  return { name, description, action: known, defaults: readDefaults(defaults, refuse), parameters: read }
}

function readParameter(item: unknown, refuse: (text: string) => never): CustomParameter {
  if (!isFields(item)) return refuse('a map expected')
  const { name, type, required = false, description = '' } = withoutNulls(item)
  if (typeof name !== 'string' || name === '') return refuse('name: a text expected')
  const known = PARAMETER_TYPES.find((each) => each === type)
  if (known === undefined) return refuse(`${name}: type: one of ${PARAMETER_TYPES.join(', ')} expected, got ${JSON.stringify(type)}`)
  if (typeof required !== 'boolean') return refuse(`${name}: required: true or false expected`)
  if (!isDescription(description))
    return refuse(`${name}: description: a text of at most ${TOOL_DESCRIPTION_CHARS_MAX} characters expected`)
  return { name, type: known, required, description }
}

/** An unknown default is refused: a misspelt filter would open what it is to close. */
function readDefaults(given: Fields, refuse: (text: string) => never): CustomTool['defaults'] {
  const entries = Object.entries(withoutNulls(given)).map(([name, value]) => {
    if (!isDefaultName(name)) return refuse(`defaults: ${Object.keys(DEFAULT_TYPES).join(', ')} expected, got ${name}`)
    if (!IS_OF_TYPE[DEFAULT_TYPES[name]](value))
      return refuse(`defaults: ${name}: a value of type ${TYPE_NAMES[DEFAULT_TYPES[name]]} expected`)
    return [name, value] as const
  })
  return Object.fromEntries(entries)
}

function isDefaultName(name: string): name is DefaultName {
  return Object.hasOwn(DEFAULT_TYPES, name)
}

type DefaultType = (typeof DEFAULT_TYPES)[DefaultName]

const isText = (value: unknown): boolean => typeof value === 'string'
const isTexts = (value: unknown): boolean => isText(value) || (Array.isArray(value) && value.every(isText))
const IS_OF_TYPE: Readonly<Record<DefaultType, (value: unknown) => boolean>> = {
  string: isText,
  integer: Number.isSafeInteger,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  strings: isTexts,
  filter: (value) => isFields(value) && Object.values(value).every((of) => isTexts(of) || ['number', 'boolean'].includes(typeof of)),
}
const TYPE_NAMES: Readonly<Record<DefaultType, string>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  strings: 'list of strings',
  filter: 'map of strings or lists of strings',
}

function isDescription(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TOOL_DESCRIPTION_CHARS_MAX
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** YAML reads a key without a value as null: it is absent. */
function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
