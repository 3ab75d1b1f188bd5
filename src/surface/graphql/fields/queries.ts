/** The fields of Query that do more than pass their input on and the answer back. Pure. */
import type { Answered } from '../caller.js'
import { type Arguments, asked, listOf, type Resolve, then, withMaps } from './field.js'

export const QUERIES: Readonly<Record<string, Resolve>> = {
  search: ({ input }, { caller, operation }) => {
    const asking = input as Arguments
    return then(caller.ask(operation, withMaps(asking)), (answered) => connectionOf(answered, Number(asking['offset'] ?? 0)))
  },
  vectorStats: asked(vectorStatsOf),
  schema: asked(({ value }) => ((value as Arguments)['schema'] === null ? null : value)),
  schemas: asked(({ value }) => ((value as Arguments)['schemas'] as readonly object[]).map((one) => ({ ...one, enabled: true }))),
  users: asked(listOf('users')),
  groups: asked(listOf('groups')),
  groupPermissions: asked(listOf('permissions'), ({ groupName }) => ({ group: groupName })),
}

/** A cursor says where the document is among all that match. */
function cursorOf(position: number): string {
  return Buffer.from(`offset:${position}`).toString('base64url')
}

function connectionOf({ value, total }: Answered, offset: number): object {
  const documents = value as readonly object[]
  const edges = documents.map((node, at) => ({ cursor: cursorOf(offset + at), node }))
  const totalCount = total ?? documents.length
  const pageInfo = {
    hasNextPage: offset + documents.length < totalCount,
    hasPreviousPage: offset > 0,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
    totalCount,
  }
  return { edges, pageInfo, totalCount }
}

interface VectorStats {
  readonly enabled: boolean
  readonly provider: string
  readonly model: string
  readonly dimensions: number
  readonly index_ready: boolean
  readonly collections: Readonly<Record<string, { readonly total_documents: number; readonly embedded_documents: number }>>
}

/** A list of collections, not a map, and no provider is null. */
export function vectorStatsOf({ value }: Answered): object {
  const { enabled, provider, model, dimensions, index_ready, collections } = value as VectorStats
  return {
    enabled,
    provider: provider === '' ? null : provider,
    model: model === '' ? null : model,
    dimensions,
    indexReady: index_ready,
    collections: Object.entries(collections).map(([collection, { total_documents, embedded_documents }]) => ({
      collection,
      totalDocuments: total_documents,
      embeddedDocuments: embedded_documents,
    })),
  }
}
