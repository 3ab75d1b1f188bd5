/**
 * Internal operations that the front end requests from the lanes, about bodies in storage backends
 * (src/background/objects/body_moves.ts, object_sweep.ts). Not available to clients.
 */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS } from '../../limits/lanes.js'
import { Type } from '../row/json_schema.js'
import { internal } from '../row/schema.js'

const collection = Type.Integer({ description: 'Id of a collection.' })

export const misplacedBodies = internal({
  name: 'misplacedBodies',
  boundedBy: ['MISPLACED_SCANNED_MAX', 'MOVED_DOCUMENTS_MAX', 'RELEASES_SCANNED_MAX'],
  description: 'Lists documents whose bodies are not stored where the configuration of their collection specifies',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({ collection, docid: Type.Integer({ description: 'First docid to examine.' }) }),
  output: Type.Object({ collection, docids: Type.Array(Type.Integer()), next: Type.Array(Type.Integer()) }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const moveBodies = internal({
  name: 'moveBodies',
  boundedBy: ['MISPLACED_SCANNED_MAX', 'MOVED_DOCUMENTS_MAX', 'RELEASES_SCANNED_MAX'],
  description: 'Moves bodies to where the configuration of their collection specifies',
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({ collection, docids: Type.Array(Type.Integer()) }),
  output: Type.Object({ moved: Type.Integer() }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const bodyLocations = internal({
  name: 'bodyLocations',
  boundedBy: ['MISPLACED_SCANNED_MAX', 'MOVED_DOCUMENTS_MAX', 'RELEASES_SCANNED_MAX'],
  description: 'Lists locations in object stores',
  effect: 'read',
  cost: 'point',
  input: Type.Object({}),
  output: Type.Object({
    folder: Type.String(),
    hasObjects: Type.Boolean(),
    locations: Type.Array(Type.Object({ id: Type.Integer() }), { description: 'Includes addresses and credentials: never for a client.' }),
  }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const unwantedObjects = internal({
  name: 'unwantedObjects',
  boundedBy: ['MISPLACED_SCANNED_MAX', 'MOVED_DOCUMENTS_MAX', 'RELEASES_SCANNED_MAX'],
  description: 'Lists objects that no body references, or has referenced within the retention period',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({ ids: Type.Array(Type.String()) }),
  output: Type.Object({ unwanted: Type.Array(Type.String()) }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const forgetReleases = internal({
  name: 'forgetReleases',
  boundedBy: ['MISPLACED_SCANNED_MAX', 'MOVED_DOCUMENTS_MAX', 'RELEASES_SCANNED_MAX'],
  description: 'Deletes the release timestamps of objects whose retention period has ended, or that were removed',
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({ swept: Type.Array(Type.String()) }),
  output: Type.Object({}),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const clearObjects = internal({
  name: 'clearObjects',
  boundedBy: ['MISPLACED_SCANNED_MAX', 'MOVED_DOCUMENTS_MAX', 'RELEASES_SCANNED_MAX'],
  description: 'Lists plaintext objects of encrypted collections that no body references any longer',
  effect: 'read',
  cost: 'point',
  input: Type.Object({ from: Type.String() }),
  output: Type.Object({
    objects: Type.Array(Type.Object({ row: Type.String(), key: Type.String(), since: Type.Integer() }), {
      description: 'Includes addresses and credentials where they are known: never for a client.',
    }),
    folder: Type.String(),
    next: Type.String(),
  }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const storageOperations = [misplacedBodies, moveBodies, bodyLocations, unwantedObjects, forgetReleases, clearObjects] as const
