/**
 * A refusal of the catalogue that is no result of a tool: the protocol answers it as a JSON-RPC error. Any
 * thread.
 */

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
