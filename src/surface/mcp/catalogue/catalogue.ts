/**
 * What MCP offers: tools, resources, prompts and completions, without protocol or transport. Every call is an
 * operation of the core, asked as the caller. Tools follow from the `mcp` names of the rows. One object a
 * thread of MCP.
 */
import type { Config } from '../../../config/config.js'
import type { AccessMode } from '../../../config/options/values.js'
import type { CallContext, ToolResult } from './call.js'
import type { CustomTool } from './custom_tools.js'

export type { Ask, CallContext, ToolResult } from './call.js'
export { CatalogueError, RESOURCE_NOT_FOUND } from './catalogue_error.js'

export interface Catalogue {
  /** As `tools/list` shows them, sorted as in the table; those that the mode refuses are missing. */
  tools(mode: AccessMode): readonly object[]
  /** @throws CatalogueError for an unknown tool, bad arguments and faults of the server */
  callTool(name: string, args: Readonly<Record<string, unknown>>, context: CallContext): Promise<ToolResult>
  resources(): readonly object[]
  resourceTemplates(): readonly object[]
  /** @throws CatalogueError with code RESOURCE_NOT_FOUND for an unknown one; the era decides what is sent */
  readResource(uri: string, context: CallContext): Promise<{ readonly contents: readonly object[] }>
  prompts(): readonly object[]
  getPrompt(name: string, args: Readonly<Record<string, unknown>>, context: CallContext): Promise<object>
  /**
   * @param ref and argument as in `completion/complete`
   * @returns `{ completion: { values, total, hasMore } }`
   */
  complete(ref: unknown, argument: unknown, context: CallContext): Promise<object>
}

export interface CatalogueOptions {
  readonly config: Config
  readonly customTools: readonly CustomTool[]
}
