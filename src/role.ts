/**
 * The role of a server: whether it may write unasked, that is, without a request. It is a shared word of the
 * control block (src/wire/control_block.ts), so that every thread reads the same one. Pure data and one
 * predicate.
 */

/**
 * The order matters: the number in the shared word is the index. A `leader` writes. A `follower` receives its
 * writes from a leader. `read_only`: the data directory cannot be written.
 */
export const ROLES = ['leader', 'follower', 'read_only'] as const
export type Role = (typeof ROLES)[number]

/** Source of the present role. */
export interface RoleSource {
  readonly role: Role
}

/** Whether expiry, packing, jobs, rotation, sweeps, tracking and embedding may run. */
export function mayWriteUnasked({ role }: RoleSource): boolean {
  return role === 'leader'
}
