/**
 * Calls a tool: reads its arguments, asks its operation as the caller, and shows the answer. The text of a
 * result is JSON; a tool with an output schema has the same as structured content. Thread of MCP.
 */
import { readArguments, type Arguments } from './argument_values.js'
import { failureOf, isRefusal, jsonOf, textOf } from './answers.js'
import { failed, type CallContext, type TextContent, type ToolResult } from './call.js'
import { exported } from './exported.js'
import { factOf } from '../../../wire/answer.js'
import { shownAnswer } from './shown_documents.js'
import { UNTRUSTED_NOTICE } from './texts.js'
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
  if (tool.answers === 'documents') return await found(tool, given, context, { operation, input })
  const answer = await context.ask(operation, input)
  if (isRefusal(answer)) return failed(failureOf(answer))
  if (tool.answers === 'parts') return await exported(answer, given, context)
  const text = textOf(answer)
  const content = contentOf(text, tool.answers === 'text')
  return tool.outputSchema === undefined ? { content } : { content, structuredContent: JSON.parse(text) as unknown }
}

/** The input of the operation: the arguments under the names of its fields. */
export function inputOf({ arguments: known, input }: Tool, given: Arguments): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  for (const { name, field } of known) if (field !== null && given[name] !== undefined) fields[field] = given[name]
  return input === undefined ? fields : { ...fields, ...input(given) }
}

/** A search. What its collection says about the form of answers comes with it. */
async function found(
  { outputSchema }: Tool,
  given: Arguments,
  context: CallContext,
  { operation, input }: { readonly operation: string; readonly input: object },
): Promise<ToolResult> {
  const [answer, responsePrompt] = await Promise.all([context.ask(operation, input), promptOf(given.collection, context)])
  if (isRefusal(answer)) return failed(failureOf(answer))
  const total = factOf(answer.facts, 'total')
  const results = {
    ...shownAnswer(jsonOf(answer), given, total === undefined ? undefined : Number(total)),
    ...(factOf(answer.facts, 'truncated') === undefined ? {} : { contextTruncated: true }),
    ...(responsePrompt === undefined ? {} : { responsePrompt }),
  }
  const content = contentOf(JSON.stringify(results), true)
  return outputSchema === undefined ? { content } : { content, structuredContent: results }
}

/** Undefined if the collection has none, or the caller may not see it: the search says so itself. */
async function promptOf(collection: unknown, { ask }: CallContext): Promise<string | undefined> {
  if (typeof collection !== 'string') return undefined
  const answer = await ask('getCollectionConfig', { collection })
  if (isRefusal(answer)) return undefined
  const { config } = jsonOf(answer) as { readonly config: { readonly responsePrompt?: string } }
  return config.responsePrompt === '' ? undefined : config.responsePrompt
}

function contentOf(text: string, hasTexts: boolean): readonly TextContent[] {
  const json: TextContent = { type: 'text', text }
  return hasTexts ? [json, { type: 'text', text: UNTRUSTED_NOTICE }] : [json]
}
