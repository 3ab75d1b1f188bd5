/**
 * The background work of the server, by name. Metrics take their labels from this list, and tests use it to
 * check what a follower must not run. Pure data. A chore runs in one thread at a time (src/chore.ts).
 */

interface ChoreTraits {
  readonly thread: 'front end' | 'write lane'
  /**
   * Changes documents, settings, jobs, revisions, histories, vectors or objects without a request. Only a
   * leader with a writable data directory may do that (src/role.ts). Work on the server's own copy alone
   * (checks of it, the derived index and its mark) does not count.
   */
  readonly writesUnasked: boolean
}

export const CHORES = {
  'body-moves': { thread: 'front end', writesUnasked: true },
  'object-sweep': { thread: 'front end', writesUnasked: true },
  'plaintext-sweep': { thread: 'front end', writesUnasked: true },
  'wiki-imports': { thread: 'front end', writesUnasked: true },
  'bulk-ingests': { thread: 'front end', writesUnasked: true },
  embedding: { thread: 'front end', writesUnasked: true },
  webhooks: { thread: 'front end', writesUnasked: true },
  'embedding-capacity': { thread: 'front end', writesUnasked: false },
  'embedding-provider': { thread: 'front end', writesUnasked: false },
  'embedding-detection': { thread: 'front end', writesUnasked: false },
  'stale-vectors': { thread: 'front end', writesUnasked: false },
  'api-key-uses': { thread: 'front end', writesUnasked: true },
  'update-check': { thread: 'front end', writesUnasked: false },
  'health-watch': { thread: 'front end', writesUnasked: false },
  'connection-watch': { thread: 'front end', writesUnasked: false },
  'tls-files': { thread: 'front end', writesUnasked: false },
  expiry: { thread: 'write lane', writesUnasked: true },
  'memory-ends': { thread: 'write lane', writesUnasked: true },
  purge: { thread: 'write lane', writesUnasked: true },
  'event-minutes': { thread: 'write lane', writesUnasked: true },
  // Each consumer declares for itself whether it writes unasked.
  'binlog-consumers': { thread: 'write lane', writesUnasked: false },
  'access-tracking': { thread: 'write lane', writesUnasked: true },
  'key-rotation': { thread: 'write lane', writesUnasked: true },
  'index-completion': { thread: 'write lane', writesUnasked: false },
  'index-watch': { thread: 'write lane', writesUnasked: false },
  'disk-watch': { thread: 'write lane', writesUnasked: false },
  'store-comparison': { thread: 'write lane', writesUnasked: false },
} as const satisfies Readonly<Record<string, ChoreTraits>>

export type ChoreName = keyof typeof CHORES

export const CHORE_NAMES = Object.keys(CHORES) as readonly ChoreName[]

/**
 * The present state of a chore; metrics show the index. `standby`: it writes unasked, and this server may
 * not. `retrying`: its last round failed, and it waits for the back-off.
 */
export const CHORE_STATES = ['stopped', 'idle', 'resting', 'running', 'retrying', 'standby'] as const
export type ChoreState = (typeof CHORE_STATES)[number]
