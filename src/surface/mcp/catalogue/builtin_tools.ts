/**
 * The tools of the server, in the order of `tools/list`. A tool belongs to the row whose name in MCP it has,
 * or which it names. Pure data; any thread.
 */
import type { AccessMode } from '../../../config/options/values.js'
import { offered, operations } from '../../../operations/index.js'
import type { Operation } from '../../../operations/row/operation.js'
import { argumentsOf } from './arguments/row_arguments.js'
import { outputSchemaOf } from './results/output_schema.js'
import { isReadOnly, type Tool, type ToolDefinition } from './tool.js'
import { documentTools } from './tools/documents.js'
import { memoryTools } from './tools/memory.js'
import { searchTools } from './tools/search.js'
import { serverTools } from './tools/server.js'
import { settingsTools } from './tools/settings.js'

export const BUILTIN_TOOLS: readonly Tool[] = [...documentTools, ...searchTools, ...memoryTools, ...settingsTools, ...serverTools].map(
  (tool) => {
    const row = rowOf(operations, tool)
    if (row === undefined) throw new Error(`no row is the tool ${tool.name}`)
    const schema = tool.isStructured === true ? { outputSchema: outputSchemaOf(row, tool.answers) } : {}
    return { ...tool, arguments: argumentsOf(row, tool), ...schema }
  },
)

export interface OfferedTool {
  readonly tool: Tool
  readonly row: Operation
  /** Whether the access mode of MCP refuses it: it is then neither listed nor called. */
  readonly isRefusedIn: (mode: AccessMode) => boolean
}

/**
 * The tools whose operations the server offers.
 * @param options a feature is on if the option of its name is true
 */
export function offeredTools(options: object): readonly OfferedTool[] {
  const rows = offered(options)
  return BUILTIN_TOOLS.flatMap((tool) => {
    const row = rowOf(rows, tool)
    return row === undefined ? [] : [{ tool, row, isRefusedIn: refusal(tool, row) }]
  })
}

function rowOf(rows: readonly Operation[], tool: ToolDefinition): Operation | undefined {
  return rows.find(({ name, protocols }) => (tool.operation === undefined ? protocols.mcp === tool.name : name === tool.operation))
}

/**
 * Read mode obeys what clients are told of the tool: a backup reads the store, but makes a file. Write mode
 * obeys the core, which refuses operations that read, and not those about the server itself.
 */
function refusal(tool: Tool, row: Operation): OfferedTool['isRefusedIn'] {
  const isRead = row.effect === 'read' || tool.before !== undefined
  return (mode) => (mode === 'read' && !isReadOnly(tool)) || (mode === 'write' && isRead)
}
