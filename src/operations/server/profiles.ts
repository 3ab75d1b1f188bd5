/**
 * Rows of the profiles of threads, offered only with `SVC_PPROF_ENABLED`. Paths and `seconds` are those of
 * Go's net/http/pprof, so that `go tool pprof` can ask for them. Pure data.
 */
import { DEADLINE_POINT_MS } from '../../limits/lanes.js'
import { PROFILE_LATE_MS_MAX, PROFILE_SECONDS_DEFAULT, PROFILE_SECONDS_MAX } from '../../limits/process.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, word } from '../row/schema.js'

/** Deadline of a request: the longest profile, the wait for it, and 5 s in the queue of a lane. */
const PROFILE_REQUEST_MS_MAX = PROFILE_SECONDS_MAX * 1000 + PROFILE_LATE_MS_MAX + 5_000

const ofServer = {
  group: 'System',
  effect: 'system',
  permission: 'admin',
  collections: SERVER,
  cost: 'point',
  audit: null,
  feature: 'pprofEnabled',
} as const

const thread = optional(Type.String({ description: 'Name of the thread, as /debug/pprof/ lists it.', default: 'main' }))
const format = optional(
  word(['pprof', 'v8'], '`pprof`: for `go tool pprof`. `v8`: the JSON that the developer tools of Chrome open.', 'pprof'),
)

export const profiles = operation({
  ...ofServer,
  name: 'profiles',
  client: 'admin.profiles',
  boundedBy: ['PROFILE_SECONDS_MAX', 'PROFILE_LATE_MS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Lists the profiles that can be made, and the threads of the server',
  deadlineMs: DEADLINE_POINT_MS,
  http: {
    routes: [
      { method: 'GET', path: '/debug/pprof/' },
      { method: 'GET', path: '/debug/pprof' },
    ],
  },
  input: Type.Object({}),
  output: shape('Profiles and threads.', {
    profiles: Type.Array(Type.Object({ path: Type.String(), description: Type.String() })),
    threads: Type.Array(Type.String(), { description: 'Names.', examples: [['main', 'read-1', 'write']] }),
  }),
})

export const cpuProfile = operation({
  ...ofServer,
  name: 'cpuProfile',
  client: 'admin.cpuProfile',
  boundedBy: ['PROFILE_SECONDS_MAX', 'PROFILE_LATE_MS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Profiles the CPU time of a thread. One profile runs at a time; another one is answered 503.',
  deadlineMs: PROFILE_REQUEST_MS_MAX,
  http: { routes: [{ method: 'GET', path: '/debug/pprof/profile' }] },
  input: Type.Object({
    seconds: optional(
      Type.Integer({
        description: `Duration, 1 to ${PROFILE_SECONDS_MAX}.`,
        default: PROFILE_SECONDS_DEFAULT,
        examples: [1],
      }),
    ),
    thread,
    format,
  }),
  output: Type.String({ description: 'The profile, compressed (profile.proto), or JSON with `format=v8`.' }),
  contentType: 'application/octet-stream',
  otherContentType: 'application/json',
  errors: ['notFound', 'overloaded'],
})

export const heapProfile = operation({
  ...ofServer,
  name: 'heapProfile',
  client: 'admin.heapProfile',
  boundedBy: ['PROFILE_SECONDS_MAX', 'PROFILE_LATE_MS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Shows which code allocated the memory in use in the heap of a thread, from samples since its start',
  deadlineMs: PROFILE_REQUEST_MS_MAX,
  http: { routes: [{ method: 'GET', path: '/debug/pprof/heap' }] },
  input: Type.Object({ thread, format }),
  output: Type.String({ description: 'The profile, compressed (profile.proto), or JSON with `format=v8`.' }),
  contentType: 'application/octet-stream',
  otherContentType: 'application/json',
  errors: ['notFound', 'overloaded'],
})

export const profileOperations = [profiles, cpuProfile, heapProfile] as const
