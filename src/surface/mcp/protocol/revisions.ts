/**
 * The revisions of MCP that the server speaks. Those before 2026-07-28 begin with a handshake, and over HTTP
 * have sessions; since then each request says everything itself. Pure.
 */

import { MCP_HANDSHAKE_REVISIONS, MCP_STATELESS_REVISIONS } from '../../../config/options/mcp_revisions.js'

/** Of the transports whose session is a connection: a session begins with it. */
export const SSE_REVISION = '2024-11-05'

/** Names of revisions are dates, so text order is their order. */
export function isStatelessRevision(revision: string): boolean {
  return revision >= '2026-07-28'
}

/** Earlier clients know the text of a result only. */
export function hasStructuredContent(revision: string): boolean {
  return revision >= '2025-06-18'
}

/** The revisions that a server serves. */
export interface Served {
  readonly handshake: readonly string[]
  readonly stateless: readonly string[]
  /** The newest of either era, as errors and `server/discover` name them. */
  readonly listed: readonly string[]
}

/** @param pin the only revision; empty: all */
export function servedRevisions(pin: string): Served {
  const serves = (revision: string): boolean => pin === '' || revision === pin
  const handshake: readonly string[] = MCP_HANDSHAKE_REVISIONS.filter(serves)
  const stateless: readonly string[] = MCP_STATELESS_REVISIONS.filter(serves)
  return { handshake, stateless, listed: stateless.length > 0 ? stateless : handshake }
}

/** @returns the revision of a session: the one that was asked for, or else the newest */
export function negotiated({ handshake }: Served, asked: unknown): string {
  return handshake.find((revision) => revision === asked) ?? handshake[0]!
}
