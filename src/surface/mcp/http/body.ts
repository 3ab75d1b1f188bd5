/**
 * The body of a request: collected up to a bound, of one body and of all together, and read as JSON. Text
 * that is not UTF-8, and nesting that is too deep, are refused before it is parsed.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { MCP_BODIES_BYTES_MAX, MCP_DEPTH_MAX } from '../../../limits/mcp_transport.js'
import { PARSE_ERROR, refusal, REFUSED, type Refusal } from '../protocol/codes.js'

export class Bodies {
  #bytes = 0

  /**
   * @param bytesMax of one body
   * @param allBytesMax of all that are being read
   */
  constructor(
    readonly bytesMax: number,
    readonly allBytesMax = MCP_BODIES_BYTES_MAX,
  ) {}

  /** Resolves with the whole body, or a refusal; null: the client has gone. */
  read(request: IncomingMessage): Promise<Buffer | Refusal | null> {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > this.bytesMax) return Promise.resolve(this.#tooLarge())
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      let bytes = 0
      let isSettled = false
      const settle = (outcome: Buffer | Refusal | null): void => {
        if (isSettled) return
        isSettled = true
        this.#bytes -= bytes
        resolve(outcome)
      }
      request.on('data', (chunk: Buffer) => {
        // The rest of a refused body is read and thrown away, so that the client gets to read its answer.
        if (isSettled) return
        if (bytes + chunk.length > this.bytesMax) return settle(this.#tooLarge())
        if (this.#bytes + chunk.length > this.allBytesMax) return settle(refusal(503, REFUSED, 'server busy, please retry'))
        bytes += chunk.length
        this.#bytes += chunk.length
        chunks.push(chunk)
      })
      request.once('end', () => settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)))
      request.once('close', () => settle(null))
    })
  }

  #tooLarge(): Refusal {
    return refusal(413, REFUSED, `request body too large: at most ${this.bytesMax} bytes`)
  }
}

/** @returns the value, or a refusal */
export function parsedBody(body: Buffer): { readonly value: unknown } | Refusal {
  if (!isUtf8(body)) return refusal(400, PARSE_ERROR, 'Parse error: the body is not UTF-8')
  if (isTooDeep(body)) return refusal(400, PARSE_ERROR, `Parse error: more than ${MCP_DEPTH_MAX} levels of arrays and objects`)
  try {
    return { value: JSON.parse(body.toString('utf8')) as unknown }
  } catch {
    return refusal(400, PARSE_ERROR, 'Parse error: the body is not JSON')
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET_BIT = 0x20

/** Counts brackets outside of strings. Text that is not JSON is left to the parser. */
function isTooDeep(body: Uint8Array): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (isInString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) isInString = true
    // `[` and `{` differ in one bit, and so do `]` and `}`.
    else if ((byte | BRACKET_BIT) === 0x7b) {
      if (++depth > MCP_DEPTH_MAX) return true
    } else if ((byte | BRACKET_BIT) === 0x7d) depth--
  }
  return false
}
