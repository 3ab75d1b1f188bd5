/**
 * How custom tools are listed and called. A call passes on what the operator declared: parameters by name,
 * and defaults, of which those that set the scope cannot be overridden. Thread of MCP.
 */
import { type Argument, argument, inputSchemaOf } from './arguments/argument.js'
import { type Arguments, badArgument, readArguments, readValue } from './arguments/argument_values.js'
import type { CallContext, ToolResult } from './call.js'
import type { CustomTool } from './custom_tools.js'
import { ANNOTATIONS, type Tool } from './tool.js'
import { type BoundTool, callRead } from './tool_calls.js'

/** What a client could otherwise widen: the operator made the tool to narrow it. */
const LOCKED: ReadonlySet<string> = new Set(['collection', 'filter_meta', 'has_meta', 'include_content', 'fields'])

/** Arguments that a custom tool may set and the tool of its action does not have. */
const FURTHER: Readonly<Record<CustomTool['action'], readonly Argument[]>> = {
  semantic_search: [],
  search_documents: [argument('asc', 'boolean', '')],
  full_text_search: [argument('filter_meta', 'filter', ''), argument('has_meta', 'strings', ''), argument('offset', 'integer', '')],
  fts_languages: [],
}

export interface BoundCustomTool {
  readonly custom: CustomTool
  readonly action: BoundTool
}

export function bindCustomTool(custom: CustomTool, { tool, operation }: BoundTool): BoundCustomTool {
  const whole: Tool = { ...tool, name: custom.name, arguments: [...tool.arguments, ...FURTHER[custom.action]] }
  return { custom, action: { tool: whole, operation } }
}

export function listedCustomTool({ custom, action }: BoundCustomTool): object {
  const { name, description, parameters } = custom
  const { class: effects, outputSchema } = action.tool
  const declared = parameters.map(({ name: of, type, description: text, required }) => ({
    ...argument(of, type, text),
    isRequired: required,
  }))
  return {
    name,
    title: name,
    description,
    inputSchema: inputSchemaOf(declared),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: { title: name, ...ANNOTATIONS[effects] },
  }
}

/** @throws CatalogueError as `callRead` */
export async function callCustomTool({ custom, action }: BoundCustomTool, args: Arguments, context: CallContext): Promise<ToolResult> {
  const defaults = Object.fromEntries(Object.entries(custom.defaults).map(([name, value]) => [snakeCase(name), value]))
  const given = Object.fromEntries(declaredOf(custom, args).filter(([name]) => !(LOCKED.has(name) && name in defaults)))
  return await callRead(action, readArguments(action.tool.arguments, { ...defaults, ...given }), context)
}

/** The given ones of the declared parameters, under the names that the action has. */
function declaredOf({ parameters }: CustomTool, args: Arguments): readonly (readonly [name: string, value: unknown])[] {
  return parameters.flatMap(({ name, type, required }) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    if (value !== undefined && value !== null) return [[snakeCase(name), readValue(name, type, value)] as const]
    if (required) throw badArgument(`missing required argument: ${name}`)
    return []
  })
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
