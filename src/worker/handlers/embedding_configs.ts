/**
 * Stored embedding configurations. Lists and single ones are read from the store. Changes become commands
 * that the front end has committed (src/background/embedding/provider.ts). The active configuration is
 * returned with its key, for the front end only.
 */
import { encodeCommand } from '../../domain/commands.js'
import {
  activeEmbedding,
  checkEmbeddingId,
  defaultEmbedding,
  type EmbeddingChange,
  embeddingConfig,
  embeddingConfigs,
  type EmbeddingDraft,
  showEmbedding,
} from '../../domain/settings/embedding_configs.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  activeEmbeddingConfig as activeEmbeddingConfigRow,
  createEmbeddingConfig as createRow,
  deleteEmbeddingConfig as deleteEmbeddingConfigRow,
  getEmbeddingConfig as getRow,
  listEmbeddingConfigs as listEmbeddingConfigsRow,
  setDefaultEmbeddingConfig as setDefaultEmbeddingConfigRow,
  updateEmbeddingConfig as updateRow,
} from '../../operations/settings/embedding_configs.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, io, type LaneContext, read } from '../request/handler.js'
import { NULLS } from '../request/input.js'

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

/** The front end commits it, and then loads the provider. */
function command(change: EmbeddingChange): Uint8Array {
  return encodeCommand({ kind: 'settings', collection: null, change })
}

function list({ store }: LaneContext): Answer {
  return store.read((view) => {
    const defaultId = defaultEmbedding(view)
    return json({ configs: embeddingConfigs(view).map((config) => showEmbedding(config, defaultId)) })
  })
}

function get({ store }: LaneContext, { id }: InputOf<typeof getRow>): Answer {
  return store.read((view) => json(showEmbedding(embeddingConfig(view, id), defaultEmbedding(view))))
}

function create(_lane: LaneContext, input: InputOf<typeof createRow>): Uint8Array {
  checkEmbeddingId(input.id)
  return command({ kind: 'createEmbedding', id: input.id, draft: draftOf(input) })
}

function update(_lane: LaneContext, input: InputOf<typeof updateRow> & { readonly [NULLS]?: readonly string[] }): Uint8Array {
  const clearsKey = input[NULLS]?.includes('apiKey') === true
  return command({ kind: 'updateEmbedding', id: input.id, draft: draftOf(input), clearsKey })
}

/** Copies the known fields only. */
function draftOf({ name, provider, model, dimensions, apiUrl, apiKey, isDefault }: InputOf<typeof updateRow>): EmbeddingDraft {
  return {
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(apiUrl === undefined ? {} : { apiUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(isDefault === undefined ? {} : { isDefault }),
  }
}

function remove(_lane: LaneContext, { id }: InputOf<typeof getRow>): Uint8Array {
  return command({ kind: 'deleteEmbedding', id })
}

function setDefault(_lane: LaneContext, { id }: InputOf<typeof getRow>): Uint8Array {
  return command({ kind: 'defaultEmbedding', id })
}

function active({ store }: LaneContext): Answer {
  return json({ settings: store.read(activeEmbedding) })
}

export const embeddingConfigHandlers: readonly BoundHandler[] = [
  read(listEmbeddingConfigsRow, list),
  read(getRow, get),
  io(createRow, create),
  io(updateRow, update),
  io(deleteEmbeddingConfigRow, remove),
  io(setDefaultEmbeddingConfigRow, setDefault),
  read(activeEmbeddingConfigRow, active),
]
