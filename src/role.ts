/**
 * The role of a server: whether it may write without being asked. A shared word of the control block
 * (src/wire/control_block.ts) holds it, so that every thread asks the same one. Pure data and one question.
 */

/**
 * In this order: the number in the shared word is the index. A `leader` writes. A `follower` gets its writes
 * from a leader. `read_only`: the data directory can't be written.
 */
export const ROLES = ['leader', 'follower', 'read_only'] as const
export type Role = (typeof ROLES)[number]

/** Where the role of the moment is read. */
export interface RoleSource {
  readonly role: Role
}

/** Whether expiry, packing, jobs, rotation, sweeps, tracking and embedding may run. */
export function mayWriteUnasked({ role }: RoleSource): boolean {
  return role === 'leader'
}
