/** Codes of JSON-RPC errors that the catalogue answers with. Pure data. */

export const INVALID_PARAMS = -32602
/** A resource that does not exist, in the handshake era; the stateless era sends INVALID_PARAMS. */
export const RESOURCE_NOT_FOUND = -32002
/** A refusal that is a failed call where a tool is called, and has no code of its own elsewhere. */
export const REFUSED = -32000
