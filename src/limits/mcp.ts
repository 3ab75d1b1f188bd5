/** Bounds of the MCP surface. */

/** Milliseconds for which a key that was looked up is kept; from none to a day. */
export const MCP_KEY_CACHE_MS_DEFAULT = 300_000
export const MCP_KEY_CACHE_MS_MAX = 86_400_000
/** Keys that are stored. Each is a row of some hundred bytes, and a listing reads them all. */
export const MCP_KEYS_MAX = 1_000
/** UTF-8 bytes of the name of one. */
export const MCP_KEY_NAME_BYTES_MAX = 256
/** Characters of a key that a listing shows: `mcp_` and eight digits of 48. */
export const MCP_KEY_PREFIX_CHARS = 12
/** Digits of the hash of a key that a listing shows, and by which it can be named: 64 bits. */
export const MCP_FINGERPRINT_CHARS = 16
/** Keys in SVC_MCP_API_KEYS. */
export const MCP_KEYS_CONFIGURED_MAX = 1_000
/** Characters of one of them, and of its name. */
export const MCP_KEY_CHARS_MAX = 256

/** Requests of one client in a window and further ones in a burst, where nothing is configured. */
export const MCP_RATE_REQUESTS_DEFAULT = 100
export const MCP_RATE_BURST_DEFAULT = 20
export const MCP_RATE_WINDOW_MS_DEFAULT = 60_000
