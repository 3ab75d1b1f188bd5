/**
 * Calls a tool: reads its arguments, asks its operation as the caller, and shows the answer (tool_result.ts).
 * Thread of MCP.
 */
import { factOf, type OutgoingAnswer, textOf } from '../../../wire/answer.js'
import { type Arguments, readArguments } from './arguments/argument_values.js'
import { type CallContext, failed, type ToolResult } from './call.js'
import { failureOf, isRefusal, jsonOf } from './results/answers.js'
import { documentPart } from './results/document_part.js'
import { exported } from './results/exported.js'
import { shownAnswer } from './results/shown_documents.js'
import { resultOf } from './results/tool_result.js'
import type { Tool } from './tool.js'

/** A tool with the name of its operation. */
export interface BoundTool {
  readonly tool: Tool
  readonly operation: string
}

/** @throws CatalogueError for bad arguments, and for refusals that are errors of the protocol */
export async function callBound(bound: BoundTool, args: Arguments, context: CallContext): Promise<ToolResult> {
  return await callRead(bound, readArguments(bound.tool.arguments, args), context)
}

/** @param given as `readArguments` returns it */
export async function callRead({ tool, operation }: BoundTool, given: Arguments, context: CallContext): Promise<ToolResult> {
  const { before } = tool
  let present: object = {}
  if (before !== undefined) {
    const answer = await context.ask(before.operation, before.input(given))
    if (isRefusal(answer)) return failed(failureOf(answer))
    present = jsonOf(answer) as object
  }
  const input = { ...present, ...inputOf(tool, given) }
  const answer = await context.ask(operation, input)
  if (isRefusal(answer)) return failed(failureOf(answer))
  if (tool.answers === 'parts') return await exported(answer, given, context)
  if (tool.answers === 'document') return documentPart(textOf(answer), given)
  if (tool.shown !== undefined) return resultOf(tool.shown(jsonOf(answer)), tool, given, context)
  return resultOf(tool.answers === 'documents' ? found(answer, given) : textOf(answer), tool, given, context)
}

/** The input of the operation: the arguments under the names of its fields. */
function inputOf({ arguments: known, input }: Tool, given: Arguments): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  for (const { name, field } of known) if (field !== null && given[name] !== undefined) fields[field] = given[name]
  return input === undefined ? fields : { ...fields, ...input(given) }
}

/** The results of a search, with what its collection says about the form of answers. */
function found(answer: OutgoingAnswer, given: Arguments): object {
  const total = factOf(answer.facts, 'total')
  const responsePrompt = factOf(answer.facts, 'responsePrompt')
  return {
    ...shownAnswer(jsonOf(answer), given, total === undefined ? undefined : Number(total)),
    ...(factOf(answer.facts, 'truncated') === undefined ? {} : { contextTruncated: true }),
    ...(responsePrompt === undefined ? {} : { responsePrompt }),
  }
}
