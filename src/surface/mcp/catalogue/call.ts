/** What a call to the catalogue may do, and what it gives. Types only. */
import type { AccessMode } from '../../../config/options/values.js'
import type { OutgoingAnswer } from '../../../wire/answer.js'

/** Asks an operation as the caller; aborted with the request, when it rejects. */
export type Ask = (operation: string, input: object) => Promise<OutgoingAnswer>

export interface CallContext {
  readonly ask: Ask
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
