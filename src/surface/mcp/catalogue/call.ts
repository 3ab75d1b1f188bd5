/** What a call to the catalogue may do, and what it gives. Types only. */
import type { AccessMode } from '../../../config/values.js'
import type { CoreAnswer } from '../../thread/core_port.js'

/** Asks an operation as the caller; aborted with the request, when it rejects. */
export type Ask = (operation: string, input: object) => Promise<CoreAnswer>

export interface CallContext {
  readonly ask: Ask
  /**
   * The next part of an answer that has more; `cancel` ends it before its last part. As those of CoreClient.
   */
  readonly more: (answer: CoreAnswer) => Promise<CoreAnswer>
  readonly cancel: (answer: CoreAnswer) => void
  readonly signal: AbortSignal
  /** Of the surface: what it does not permit is refused before the core is asked. */
  readonly mode: AccessMode
  /** The client reads `structuredContent`, which results have since revision 2025-06-18. */
  readonly isStructured: boolean
  progress(done: number, total: number | undefined, message?: string): void
  log(level: string, data: unknown): void
}

export interface TextContent {
  readonly type: 'text'
  readonly text: string
}

export interface ToolResult {
  readonly content: readonly TextContent[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

export function failed(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
