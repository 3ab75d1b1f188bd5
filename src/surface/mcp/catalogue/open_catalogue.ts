/**
 * The catalogue of a server: its tools and those of the operator, resources, prompts. Tools whose operations
 * the server does not offer, or the mode refuses, are not listed. Thread of MCP, and once at the start for
 * `/v1/endpoints`.
 */
import { badArgument } from './arguments/argument_values.js'
import { type OfferedTool, offeredTools } from './builtin_tools.js'
import { type CallContext, failed, type ToolResult } from './call.js'
import type { Catalogue, CatalogueOptions } from './catalogue.js'
import { complete } from './completions.js'
import { bindCustomTool, type BoundCustomTool, callCustomTool, listedCustomTool } from './custom_calls.js'
import { getPrompt, LISTED_PROMPTS } from './prompts.js'
import { readResource, RESOURCE_TEMPLATES, RESOURCES } from './resources.js'
import { notInMode } from './texts.js'
import { listedTool } from './tool.js'
import { type BoundTool, callBound } from './tool_calls.js'

/** A tool as the catalogue has it. */
interface Entry {
  readonly listed: object
  readonly isRefusedIn: OfferedTool['isRefusedIn']
  readonly call: (args: Readonly<Record<string, unknown>>, context: CallContext) => Promise<ToolResult>
}

export function openCatalogue({ config, customTools }: CatalogueOptions): Catalogue {
  const offered = offeredTools(config)
  const entries = new Map<string, Entry>(config.mcpBuiltinTools ? offered.map((tool) => [tool.tool.name, builtinEntry(tool)]) : [])
  for (const custom of customTools) {
    const action = offered.find(({ tool }) => tool.name === custom.action)
    if (action !== undefined) entries.set(custom.name, customEntry(bindCustomTool(custom, boundOf(action)), action))
  }
  return {
    tools: (mode) => [...entries.values()].filter(({ isRefusedIn }) => !isRefusedIn(mode)).map(({ listed }) => listed),
    callTool: async (name, args, context) => {
      const entry = entries.get(name)
      if (entry === undefined) throw badArgument(`unknown tool: ${name.slice(0, 100)}`)
      return entry.isRefusedIn(context.mode) ? failed(notInMode(name, context.mode)) : await entry.call(args, context)
    },
    resources: () => RESOURCES,
    resourceTemplates: () => RESOURCE_TEMPLATES,
    readResource,
    prompts: () => LISTED_PROMPTS,
    getPrompt,
    complete,
  }
}

function boundOf({ tool, row }: OfferedTool): BoundTool {
  return { tool, operation: row.name }
}

function builtinEntry(offered: OfferedTool): Entry {
  const bound = boundOf(offered)
  return {
    listed: listedTool(offered.tool),
    isRefusedIn: offered.isRefusedIn,
    call: (args, context) => callBound(bound, args, context),
  }
}

function customEntry(bound: BoundCustomTool, { isRefusedIn }: OfferedTool): Entry {
  return { listed: listedCustomTool(bound), isRefusedIn, call: (args, context) => callCustomTool(bound, args, context) }
}
