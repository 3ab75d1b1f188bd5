/**
 * What MCP offers: tools, resources, prompts and completions, without protocol or transport. Every call is an
 * operation of the core, asked as the caller. Tools follow from the `mcp` names of the rows. One object a
 * thread of MCP.
 */
import type { Config } from '../../../config/config.js'
import type { AccessMode } from '../../../config/values.js'
import type { CoreAnswer } from '../../thread/core_port.js'
import type { CustomTool } from './custom_tools.js'

export { CatalogueError } from './catalogue_error.js'

/** Asks an operation as the caller; aborted with the request, when it rejects. */
export type Ask = (operation: string, input: object) => Promise<CoreAnswer>

export interface CallContext {
  readonly ask: Ask
  /** The next part of an answer that has more; `cancel` ends it before its last part. As those of CoreClient. */
  readonly more: (answer: CoreAnswer) => Promise<CoreAnswer>
  readonly cancel: (answer: CoreAnswer) => void
  readonly signal: AbortSignal
  /** Of the surface: what it does not permit is refused before the core is asked. */
  readonly mode: AccessMode
  progress(done: number, total: number | undefined, message?: string): void
  log(level: string, data: unknown): void
}

export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

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

/** Code of a resource that does not exist in the handshake era; the stateless era sends -32602. */
export const RESOURCE_NOT_FOUND = -32002
