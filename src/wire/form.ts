/**
 * The encoding of a request's input. A surface writes it, a lane reads it (src/lane.ts has the readers), and
 * nothing in between inspects it. Pure data.
 */

/**
 * `json`: JSON body, query string as `head`, path parameters as `params` (src/surface/http/lane). `msgpack`:
 * the input as one map; used by the server itself and by surfaces in threads of their own.
 */
export const FORMS = ['json', 'msgpack'] as const
export type Form = (typeof FORMS)[number]

export interface EncodedInput {
  readonly form: Form
  /** Text beside the body. */
  readonly head: string
  /** name, value, name, value ... */
  readonly params: readonly string[]
  readonly body: Uint8Array | null
  /** The surface accepts a body that its form has compressed. */
  readonly mayCompress: boolean
}
