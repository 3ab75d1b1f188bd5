/**
 * Named entries of a ZIP file in memory, unpacked to a bound. Sizes that an archive claims are not trusted.
 * Runs in a child process.
 */
import { Buffer } from 'node:buffer'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'
import { MIB } from '../../limits/units.js'
import { unpackEntry } from '../unzip.js'

/** Entries of one archive: a document with a thousand pictures has fewer. */
const ZIP_ENTRIES_MAX = 2000
/**
 * Bytes of the entries of a document that are read, unpacked: text of 64 MB is far above the document bound.
 */
const ZIP_UNPACKED_BYTES_MAX = 64 * MIB

interface ZipEntries {
  readonly names: readonly string[]
  /** Undefined if there is no such entry. @throws Error if the entries read are over the bound together */
  read(name: string): Promise<Buffer | undefined>
}

/** @throws Error if this is no ZIP file, or a damaged one */
export async function openZip(bytes: Uint8Array): Promise<ZipEntries> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    fromBuffer(buffer, { lazyEntries: true }, (error, opened) => (error === null ? resolve(opened) : reject(error)))
  })
  const entries = await listEntries(zip)
  let left = ZIP_UNPACKED_BYTES_MAX
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = entries.get(name)
      if (entry === undefined) return undefined
      const unpacked = await unpackEntry(zip, entry, left, ZIP_UNPACKED_BYTES_MAX)
      left -= unpacked.length
      return unpacked
    },
  }
}

function listEntries(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>()
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => resolve(entries))
    zip.on('entry', (entry: Entry) => {
      if (entries.size >= ZIP_ENTRIES_MAX) return reject(new Error(`more than ${ZIP_ENTRIES_MAX} entries`))
      if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry)
      zip.readEntry()
    })
    zip.readEntry()
  })
}
