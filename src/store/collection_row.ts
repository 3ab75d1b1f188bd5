/** A row of `collections`: id and name of a collection. Layout: docs/formats/truth-env.md. */
export interface Collection {
  readonly id: number
  /** As first written. */
  readonly name: string
}

export function encodeCollection(collection: Collection): Buffer {
  const row = Buffer.from(`\0\0\0\0${collection.name}`)
  row.writeUInt32LE(collection.id, 0)
  return row
}

export function decodeCollection(row: Buffer): Collection {
  return { id: row.readUInt32LE(0), name: row.toString('utf8', 4) }
}
