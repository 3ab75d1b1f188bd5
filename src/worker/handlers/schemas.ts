/**
 * Schemas of collections: set, get, list, and validation without a write. The rules are in
 * src/domain/schemas. Every write is checked against them (src/domain/writes/write_rules.ts).
 */
import type { Command } from '../../domain/commands.js'
import { parseMetadata } from '../../domain/documents/metadata.js'
import { readSchema, textOfSchema } from '../../domain/schemas/collection_schema.js'
import { metadataWarnings, schemaErrors } from '../../domain/schemas/metadata_check.js'
import { schemaTextOf } from '../../domain/settings/collection_settings.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  deleteSchema as deleteSchemaRow,
  getSchema as getSchemaRow,
  listSchemas as listSchemasRow,
  setSchema as setRow,
  validate as validateRow,
} from '../../operations/settings/collection_schemas.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'
import { settingsCommand } from '../request/settings_command.js'

interface Named {
  readonly collection: string
}

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

function set(lane: LaneContext, { collection, schema }: InputOf<typeof setRow>): Command {
  const text = textOfSchema(schema)
  readSchema(text)
  return settingsCommand(lane, collection, { kind: 'schema', text })
}

function remove(lane: LaneContext, { collection }: Named): Command {
  return settingsCommand(lane, collection, { kind: 'schema', text: null })
}

function get(lane: LaneContext, { collection: name }: Named): Answer {
  const schema = lane.store.read((view) => {
    const collection = view.collection(name)
    return collection === undefined ? undefined : schemaTextOf(view, collection.id)
  })
  return json({ collection: name, schema: schema ?? null, enabled: schema !== undefined })
}

function list(lane: LaneContext, _input: unknown, { access }: RequestContext): Answer {
  const schemas = lane.store.read((view) =>
    view.collections().flatMap(({ id, name }) => {
      const schema = schemaTextOf(view, id)
      return schema === undefined || !access.mayRead(name) ? [] : [{ collection: name, schema }]
    }),
  )
  return json({ schemas })
}

function validate(lane: LaneContext, { collection, meta }: InputOf<typeof validateRow>): Answer {
  const { values } = parseMetadata(meta)
  const schema = lane.collections.find(collection)?.settings.schema
  const errors = schema === undefined ? [] : schemaErrors(schema, values)
  return json({ valid: errors.length === 0, errors, warnings: metadataWarnings(values) })
}

export const schemaHandlers: readonly BoundHandler[] = [
  prepare(setRow, set),
  read(getSchemaRow, get),
  prepare(deleteSchemaRow, remove),
  read(listSchemasRow, list),
  read(validateRow, validate),
]
