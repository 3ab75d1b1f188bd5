/**
 * Damages the node of a row in the leaves of a truth env that is not open: its header then gives a value
 * length beyond the end of the file. A process that copies the value out of the map reads behind the end of
 * the file and is ended by SIGBUS.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'

const PAGE_BYTES = 4096
const PAGE_HEADER_BYTES = 24
const NODE_HEADER_BYTES = 8
const LEAF_PAGE = 0x02
const PAGE_KINDS = 0x7f
/** Added to the high half of the size: 256 MiB more. */
const SIZE_ADDED = 0x1000

/**
 * Damages every copy of the row: free pages contain old ones.
 * @param value of the row as it is stored
 */
export function damageLeaf(path: string, key: Buffer, value: Buffer): void {
  const file = readFileSync(path)
  let damaged = 0
  for (let page = 0; page < file.length; page += PAGE_BYTES) {
    if ((file.readUInt16LE(page + 18) & PAGE_KINDS) !== LEAF_PAGE) continue
    for (const node of nodesOf(file, page)) {
      const keyBegin = node + NODE_HEADER_BYTES
      const row = Buffer.concat([key, value])
      if (file.readUInt16LE(node + 6) !== key.length || !file.subarray(keyBegin, keyBegin + row.length).equals(row)) continue
      file.writeUInt16LE(SIZE_ADDED, node + 2)
      damaged++
    }
  }
  assert.ok(damaged > 0, `${path} has no such row in a leaf`)
  writeFileSync(path, file)
}

/** The offsets of the nodes. A page that is no longer a leaf may contain anything. */
function nodesOf(file: Buffer, page: number): number[] {
  const count = Math.min(file.readUInt16LE(page + 20), PAGE_BYTES - PAGE_HEADER_BYTES) >> 1
  const offsets = Array.from({ length: count }, (_, index) => file.readUInt16LE(page + PAGE_HEADER_BYTES + index * 2))
  return offsets
    .filter((offset) => offset <= PAGE_BYTES - PAGE_HEADER_BYTES - NODE_HEADER_BYTES)
    .map((offset) => page + PAGE_HEADER_BYTES + offset)
}
