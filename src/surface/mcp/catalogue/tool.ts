/** The definition of a tool, and how `tools/list` shows it. Pure data; any thread. */
import { type Argument, inputSchemaOf, type JsonSchema } from './arguments/argument.js'
import type { Arguments } from './arguments/argument_values.js'
import type { ArgumentChoice } from './arguments/row_arguments.js'

/**
 * What a client is told of the effects of a tool. R: reads, W: writes, D: destroys; O: open world, I:
 * repeating it changes nothing, N: it does. `ROW` reads and asks an embedding provider, which may be outside.
 */
type ToolClass = 'RO' | 'ROW' | 'WI' | 'WN' | 'WO' | 'DI' | 'DN'

interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

export const ANNOTATIONS: Readonly<Record<ToolClass, Annotations>> = {
  RO: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  ROW: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  WI: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  WN: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  WO: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  DI: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  DN: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}

/**
 * What an answer contains. `plain`: nothing that an author of documents wrote. `text`: texts of documents or
 * values of metadata. `document`: one document, whose text is read in parts. `documents`: results of a
 * search, which `fields` and `include_content` shape. `parts`: an export.
 */
export type AnswerKind = 'plain' | 'text' | 'document' | 'documents' | 'parts'

export interface ToolDefinition extends ArgumentChoice {
  readonly name: string
  readonly title: string
  /** For models: what it does and when to use it. */
  readonly description: string
  readonly class: ToolClass
  readonly answers: AnswerKind
  /** Name of the row. Default: the one whose name in MCP is that of the tool. */
  readonly operation?: string
  /** Fields of the operation's input that differ from the arguments. */
  readonly input?: (given: Arguments) => Readonly<Record<string, unknown>>
  /** A read that is asked first: its answer is what the arguments replace. */
  readonly before?: { readonly operation: string; readonly input: (given: Arguments) => Readonly<Record<string, unknown>> }
  /** The answer as the tool shows it. Default: as the operation gives it. */
  readonly shown?: (answer: unknown) => object
  /** Its results have an output schema, and structured content. */
  readonly isStructured?: true
}

/** A tool with what follows from its row. */
export interface Tool extends ToolDefinition {
  /** Those of its operation and its own. */
  readonly arguments: readonly Argument[]
  readonly outputSchema?: JsonSchema
}

/** As an element of `tools/list`. */
export function listedTool({ name, title, description, class: effects, arguments: known, outputSchema }: Tool): object {
  return {
    name,
    title,
    description,
    inputSchema: inputSchemaOf(known),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: { title, ...ANNOTATIONS[effects] },
  }
}

export function isReadOnly({ class: effects }: Tool): boolean {
  return ANNOTATIONS[effects].readOnlyHint
}
