/**
 * Encryption at rest for operators: how much of each collection is stored under which key, and the rotations.
 * Counting reads the key id of every state, so it runs on the bulk lane.
 */
import { randomBytes } from 'node:crypto'
import type { Command } from '../../domain/commands.js'
import { showRotation, unfinishedRotation } from '../../domain/rotation.js'
import { configOf } from '../../domain/settings/collection_settings.js'
import { serviceError } from '../../errors.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  encryptionJob as jobRow,
  encryptionJobs as encryptionJobsRow,
  encryptionStatus as encryptionStatusRow,
  rotateEncryption as rotateRow,
} from '../../operations/server/encryption.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

function status(lane: LaneContext, _input: unknown, request: RequestContext): Answer {
  const keys = lane.config.encryption
  const known = new Set(keys === null ? [] : [keys.primary.id, ...keys.previous.map(({ id }) => id)])
  return lane.store.read((view) =>
    json({
      enabled: keys !== null,
      primaryKeyID: keys?.primary.id ?? 0,
      previousKeyIDs: keys?.previous.map(({ id }) => id) ?? [],
      collections: view.collections().map(({ id, name }) => {
        const counts = countOf(view, id, { primary: keys?.primary.id, known }, request)
        return { collection: name, encrypted: configOf(view, id)?.encrypted === true, ...counts }
      }),
      currentJobID: unfinishedRotation(view)?.id ?? '',
      residue: view.isScrubWanted() || view.objects.hasClearReleases(),
    }),
  )
}

/**
 * Counts states of documents: the present ones and the revisions. A state whose body is in an object store
 * under another key than the state itself counts for the key of the body.
 */
function countOf(
  view: View,
  collection: number,
  { primary, known }: { readonly primary: number | undefined; readonly known: ReadonlySet<number> },
  request: RequestContext,
): Readonly<Record<string, number>> {
  const counts = { total: 0, withPrimary: 0, withLegacy: 0, plaintext: 0, unknownKey: 0 }
  const byKey = statesByKey(view, collection, request)
  const form = view.objects.writtenForm(collection)
  for (const [keyId, states] of view.objects.statesBehind(collection)) {
    byKey.set(keyId, (byKey.get(keyId) ?? 0) + states)
    byKey.set(form, (byKey.get(form) ?? 0) - states)
  }
  for (const [keyId, states] of byKey) {
    counts.total += states
    if (keyId === 0) counts.plaintext += states
    else if (keyId === primary) counts.withPrimary += states
    else if (known.has(keyId)) counts.withLegacy += states
    else counts.unknownKey += states
  }
  return counts
}

function statesByKey(view: View, collection: number, request: RequestContext): Map<number, number> {
  const counts = new Map<number, number>()
  for (const keyId of view.keyIdsOfStates(collection)) {
    if (request.shouldStop()) throw serviceError('deadline')
    counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
  }
  return counts
}

function rotate(_lane: LaneContext, { collection }: InputOf<typeof rotateRow>): Command {
  return {
    kind: 'rotate',
    collection: collection === undefined || collection === '' ? null : collection,
    id: `rot-${randomBytes(8).toString('hex')}`,
  }
}

function jobs(lane: LaneContext): Answer {
  if (lane.config.encryption === null) throw serviceError('noEncryptionJobs')
  return json({ jobs: lane.store.read((view) => view.jobs('rotation')).map(showRotation) })
}

function job(lane: LaneContext, { id }: InputOf<typeof jobRow>): Answer {
  const found = lane.store.read((view) => view.job('rotation', id))
  if (found === undefined) throw serviceError('notFound')
  return json(showRotation(found))
}

export const encryptionHandlers: readonly BoundHandler[] = [
  read(encryptionStatusRow, status),
  prepare(rotateRow, rotate),
  read(encryptionJobsRow, jobs),
  read(jobRow, job),
]
