/**
 * Internal operations that the front end requests from the lanes, about bodies in storage backends
 * (src/background/objects/body_moves.ts, object_sweep.ts). Not available to clients.
 */
import { Type } from './json_schema.js'
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS } from '../limits/deadlines.js'
import { internal } from './schema.js'

const collection = Type.Integer({ description: 'Id of a collection.' })

export const misplacedBodies = internal({
  name: 'misplacedBodies',
  description: 'Documents whose bodies do not lie where the configuration of their collection says',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({ collection, docid: Type.Integer({ description: 'The first to look at.' }) }),
  output: Type.Object({ collection, docids: Type.Array(Type.Integer()), next: Type.Array(Type.Integer()) }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const moveBodies = internal({
  name: 'moveBodies',
  description: 'Moves bodies to where the configuration of their collection says',
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({ collection, docids: Type.Array(Type.Integer()) }),
  output: Type.Object({ moved: Type.Integer() }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const bodyLocations = internal({
  name: 'bodyLocations',
  description: 'Places in object stores',
  effect: 'read',
  cost: 'point',
  input: Type.Object({}),
  output: Type.Object({
    folder: Type.String(),
    hasObjects: Type.Boolean(),
    locations: Type.Array(Type.Object({ id: Type.Integer() }), { description: 'With where each is and who asks: never for a client.' }),
  }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const unwantedObjects = internal({
  name: 'unwantedObjects',
  description: 'Which objects no body refers to, nor has for as long as they are kept',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({ ids: Type.Array(Type.String()) }),
  output: Type.Object({ unwanted: Type.Array(Type.String()) }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const forgetReleases = internal({
  name: 'forgetReleases',
  description: "Forgets since when objects have been nobody's that are kept no longer, or have been removed",
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({ swept: Type.Array(Type.String()) }),
  output: Type.Object({}),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const clearObjects = internal({
  name: 'clearObjects',
  description: 'Which objects show an encrypted collection in clear, and are referred to by no body any more',
  effect: 'read',
  cost: 'point',
  input: Type.Object({ from: Type.String() }),
  output: Type.Object({
    objects: Type.Array(Type.Object({ row: Type.String(), key: Type.String(), since: Type.Integer() }), {
      description: 'With where each is and who asks, where that can be told: never for a client.',
    }),
    folder: Type.String(),
    next: Type.String(),
  }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const storageOperations = [misplacedBodies, moveBodies, bodyLocations, unwantedObjects, forgetReleases, clearObjects] as const
