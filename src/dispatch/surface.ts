/** A surface as the core knows it: whose requests are admitted, and with which share. Pure data. */

/** What clients of a surface may do: `SVC_MODE` and its variants by protocol. */
export type AccessMode = 'read' | 'write' | 'wr'

export interface Surface {
  /** Label of its metrics. */
  readonly name: string
  readonly mode: AccessMode
  /** Its place among the surfaces of the server; 0: the server itself. */
  readonly index: number
}

/** Requests that the server makes of its own lanes. It has no share kept for it: it asks again. */
export const OWN: Surface = { name: 'own', mode: 'wr', index: 0 }
