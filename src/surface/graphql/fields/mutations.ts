/** The fields of Mutation that do more than pass their input on and the answer back. Pure. */
import { vectorStats } from '../../../operations/server/embedding.js'
import { type Arguments, asked, askedByInput, isDone, type Resolve, then, whole, withMaps } from './field.js'
import { vectorStatsOf } from './queries.js'

export const MUTATIONS: Readonly<Record<string, Resolve>> = {
  deleteDocument: asked(isDone),
  deleteCollection: asked(({ value }) => (value as Arguments)['deleted']),
  addBatch: asked(whole, ({ collection, documents }) => ({
    collection,
    documents: (documents as readonly Arguments[]).map(withMaps),
  })),
  ingestDocuments: asked(whole, ({ documents, ...rest }) => ({ ...rest, documents: (documents as readonly Arguments[]).map(withMaps) })),
  importURL: asked(whole, withMaps),
  vectorReindex: async (args, { caller, operation }) => {
    await caller.ask(operation, args)
    return await then(caller.ask(vectorStats, {}), vectorStatsOf)
  },
  setSchema: askedByInput(isDone),
  deleteSchema: asked(isDone),
  validateDocument: asked(whole, withMaps),
  // A new user has no rights.
  register: asked(({ value }) => ({ ...(value as object), admin: false })),
  createAPIKey: askedByInput(({ value }) => {
    const { expiresAt, ...key } = value as Arguments
    return { ...key, expiresAt: expiresAt === 0 ? null : expiresAt }
  }),
  registerWebhook: askedByInput(whole),
  deleteWebhook: asked(isDone),
  setPermission: askedByInput(isDone),
  deleteGroup: asked(isDone),
  setGroupPermission: askedByInput(isDone),
}
