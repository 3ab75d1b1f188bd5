/**
 * A refusal of the catalogue that is no result of a tool: the protocol answers it as a JSON-RPC error with
 * one of these codes. Any thread.
 */

export const INVALID_PARAMS = -32602
/** A resource that does not exist, in the handshake era; the stateless era sends INVALID_PARAMS. */
export const RESOURCE_NOT_FOUND = -32002
/** A refusal that is a failed call where a tool is called, and has no code of its own elsewhere. */
export const REFUSED = -32000

export class CatalogueError extends Error {
  /**
   * @param code of JSON-RPC or of MCP
   * @param data of the JSON-RPC error
   */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
    this.name = 'CatalogueError'
  }
}
