/**
 * The schema of a tool's structured results. Their fields are those of the row's output; what results of MCP
 * add to it, or leave out, is declared here. Pure; any thread.
 */
import { type Keywords, type Schema, Type } from '../../../../operations/row/json_schema.js'
import type { Operation } from '../../../../operations/row/operation.js'
import { passageFields } from '../../../../operations/row/retrieval.js'
import { Document } from '../../../../operations/row/schema.js'
import type { JsonSchema } from '../arguments/argument.js'
import { textOf } from '../arguments/row_arguments.js'
import type { AnswerKind } from '../tool.js'

const SHORTENED = Type.Object({
  contextTruncated: Type.Optional(Type.Boolean({ description: 'True if results were left out to keep the answer short.' })),
  contextHint: Type.Optional(Type.String({ description: 'With contextTruncated: how to get at what was left out.' })),
})
/** HTTP says it in a header. */
const PROMPT = Type.Object({
  responsePrompt: Type.Optional(Type.String({ description: 'How the owner of the collection wants answers to be written.' })),
})
/**
 * Of a row that answers a list: a structured result must be an object. HTTP says the total in a header. The
 * passage is a field of the document, because a listing has no results around it.
 */
const LISTED = Type.Object({
  documents: Type.Array({ ...Document, properties: { ...Document.properties, ...Type.Object(passageFields).properties } }),
  total: Type.Integer({ description: 'Number of matching documents, before pagination.' }),
})

/** What stays of a document whatever `fields` and `include_content` leave out. */
const KEPT_OF_DOCUMENT = ['id', 'key', 'lang']

/** Fields of the outputs of rows that a tool never has: it lacks the arguments which ask for them. */
const NOT_ASKED_FOR: Readonly<Record<string, readonly string[]>> = { fts: ['explanation', 'totalMatches'] }

/** @throws Error for a field that the row lacks: a programming error */
export function outputSchemaOf(row: Operation, answers: AnswerKind): JsonSchema {
  const left = new Set(NOT_ASKED_FOR[row.name])
  const shown = (schema: Schema): Keywords => {
    const { title, examples: _, properties, required = [], items, additionalProperties, ...rest } = schema
    const named = Object.entries(properties ?? {}).filter(([name]) => !left.delete(name))
    const isReduced = answers === 'documents' && title === Document.title
    return {
      ...rest,
      ...(schema.description === undefined ? {} : { description: textOf(schema, row.input) }),
      ...(properties === undefined ? {} : { properties: Object.fromEntries(named.map(([name, field]) => [name, shown(field)])) }),
      ...(required.length === 0 ? {} : { required: isReduced ? KEPT_OF_DOCUMENT : required }),
      ...(items === undefined ? {} : { items: shown(items) }),
      ...(additionalProperties === undefined ? {} : { additionalProperties: shown(additionalProperties) }),
    }
  }
  const { output } = row
  const whole = shown(output.type === 'array' ? LISTED : output)
  if (left.size > 0) throw new Error(`${row.name} has no ${[...left].join()}, which its results leave out`)
  const own = { ...SHORTENED.properties, ...(answers === 'documents' ? PROMPT.properties : {}) }
  return { ...whole, properties: { ...whole.properties, ...own } }
}
