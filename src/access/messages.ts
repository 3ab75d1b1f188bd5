/** Messages of lanes about passwords, for the front end, which has them hashed. Types only. */

/** A login to be checked. */
export interface LoginMessage {
  readonly username: string
  readonly password: string
  /** Null: there is no such user, or it is disabled. */
  readonly user: { readonly passwordHash: string; readonly tokenEpoch: number; readonly isAdmin: boolean } | null
}

/** A new user, or a change of one. */
export interface PasswordMessage {
  readonly change: 'add' | 'change'
  readonly username: string
  /** To be hashed; null: the password does not change. */
  readonly password: string | null
  /** Must be right first; null: the requester need not know it. */
  readonly old: { readonly password: string; readonly passwordHash: string } | null
  readonly disabled?: boolean
}
