/** Messages between the front end and a thread that is profiled, on a port of their own. */

type ProfileKind = 'cpu' | 'heap'
/**
 * `pprof`: compressed protocol buffer, for `go tool pprof`. `v8`: JSON, for the developer tools of Chrome.
 */
export type ProfileFormat = 'pprof' | 'v8'

export interface ProfileAsk {
  readonly kind: ProfileKind
  readonly format: ProfileFormat
  /** Of a CPU profile. */
  readonly seconds: number
}

/** What a request asks of the front end. */
export interface ProfileWanted extends ProfileAsk {
  readonly thread: string
}

/** The number is assigned by the front end. */
export type NumberedAsk = ProfileAsk & { readonly number: number }

export type ProfileMade =
  | { readonly number: number; readonly body: Uint8Array }
  /** The reason is one line. */
  | { readonly number: number; readonly error: string }
