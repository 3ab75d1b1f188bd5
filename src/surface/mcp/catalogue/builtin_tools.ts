/**
 * The tools of the server, in the order of `tools/list`. A tool belongs to the row whose name in MCP it has,
 * or which it names. Pure data; any thread.
 */
import { offered } from '../../../operations/index.js'
import type { Operation } from '../../../operations/operation.js'
import { documentTools } from './tools/documents.js'
import { searchTools } from './tools/search.js'
import { serverTools } from './tools/server.js'
import { settingsTools } from './tools/settings.js'
import type { Tool } from './tool.js'

export const BUILTIN_TOOLS: readonly Tool[] = [...documentTools, ...searchTools, ...settingsTools, ...serverTools]

export interface OfferedTool {
  readonly tool: Tool
  readonly row: Operation
}

/**
 * The tools whose operations the server offers.
 * @param options a feature is on if the option of its name is true
 */
export function offeredTools(options: object): readonly OfferedTool[] {
  const rows = offered(options)
  return BUILTIN_TOOLS.flatMap((tool) => {
    const row = rows.find(({ name, protocols }) => (tool.operation === undefined ? protocols.mcp === tool.name : name === tool.operation))
    return row === undefined ? [] : [{ tool, row }]
  })
}
