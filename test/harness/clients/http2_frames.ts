/** Frames of HTTP/2, for clients that send what no library would. */

/** The types of frames (RFC 9113, section 6). */
export const FRAME = { data: 0, headers: 1, settings: 4, ping: 6, continuation: 9 } as const

/** @param flags 1: the last of its stream, or an acknowledgement; 4: the last of its headers */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The beginning of a connection: the preface and empty settings. */
export const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(FRAME.settings, 0, 0, Buffer.alloc(0))])
