/**
 * Completions of arguments of prompts and of variables of resource templates: names of collections that the
 * caller may read, and values that are known. Thread of MCP.
 */
import { badArgument } from './arguments/argument_values.js'
import type { CallContext } from './call.js'
import { argumentOf } from './prompts.js'
import { RESOURCE_TEMPLATES } from './resources.js'
import { isRefusal, jsonOf } from './results/answers.js'

/** Values of a completion, as MCP sets it. */
const COMPLETIONS_MAX = 100

interface Asked {
  readonly name: string
  readonly value: string
}

/** @throws CatalogueError for a reference or an argument of another form */
export async function complete(ref: unknown, argument: unknown, context: CallContext): Promise<object> {
  const { name, value } = askedOf(argument)
  const candidates = await candidatesOf(ref, name, context)
  const fitting = candidates.filter((each) => each.toLowerCase().startsWith(value.toLowerCase())).sort()
  const values = fitting.slice(0, COMPLETIONS_MAX)
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } }
}

function askedOf(argument: unknown): Asked {
  const { name, value } = isFields(argument) ? argument : {}
  if (typeof name !== 'string' || typeof value !== 'string') throw badArgument('invalid argument: an object with name and value expected')
  return { name, value }
}

async function candidatesOf(ref: unknown, name: string, context: CallContext): Promise<readonly string[]> {
  const { type, name: prompt, uri } = isFields(ref) ? ref : {}
  if (type === 'ref/prompt') {
    const known = argumentOf(prompt, name)
    if (known?.known !== undefined) return known.known
    return known !== undefined && name === 'collection' ? await collections(context) : []
  }
  if (type === 'ref/resource') {
    const isTemplate = RESOURCE_TEMPLATES.some((template) => 'uriTemplate' in template && template.uriTemplate === uri)
    return isTemplate && name === 'collection' ? await collections(context) : []
  }
  throw badArgument('invalid ref: type ref/prompt or ref/resource expected')
}

/** Those that the caller may read. */
async function collections({ ask }: CallContext): Promise<readonly string[]> {
  const answer = await ask('vectorStats', {})
  if (isRefusal(answer)) return []
  return Object.keys((jsonOf(answer) as { readonly collections: object }).collections)
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
