/** ZIP files made in memory, also with sizes that are lies. */
import { deflateRawSync } from 'node:zlib'
import { crc32 } from '@node-rs/crc32'

/** @param claimedBytes by name, what the entry claims to have unpacked */
export function zipOf(entries: Readonly<Record<string, string | Buffer>>, claimedBytes: Readonly<Record<string, number>> = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content)
    const packed = deflateRawSync(data, { level: 9 })
    const file = Buffer.from(name)
    // Version, flags, method 8, time and date; then CRC and sizes, the same in both headers.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(claimedBytes[name] ?? data.length, 18)
    common.writeUInt16LE(file.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    parts.push(Buffer.from('PK\x03\x04'), common, file, packed)
    directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, tail, file)
    offset += 4 + common.length + file.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(Object.keys(entries).length, 8)
  end.writeUInt16LE(Object.keys(entries).length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listed, end])
}
