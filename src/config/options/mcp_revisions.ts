/** The revisions of MCP that the server speaks, newest first. Pure data. */

/** With a handshake, and sessions over HTTP. */
export const MCP_HANDSHAKE_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
/** Each request says everything itself. */
export const MCP_STATELESS_REVISIONS = ['2026-07-28'] as const
export const MCP_REVISIONS = [...MCP_STATELESS_REVISIONS, ...MCP_HANDSHAKE_REVISIONS] as const
