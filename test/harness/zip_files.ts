/**
 * Reads a ZIP file with a reader that checks sizes, names and checksums: name and text of each file, in the
 * order of the central directory.
 */
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'

export async function readZip(bytes: Buffer): Promise<ReadonlyMap<string, string>> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true }, (error, file) => (error === null ? resolve(file) : reject(error)))
  })
  const files = new Map<string, string>()
  return await new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => resolve(files))
    zip.on('entry', (entry: Entry) => {
      textOf(zip, entry).then((text) => {
        if (files.has(entry.fileName)) reject(new Error(`two files are named ${entry.fileName}`))
        files.set(entry.fileName, text)
        zip.readEntry()
      }, reject)
    })
    zip.readEntry()
  })
}

async function textOf(zip: ZipFile, entry: Entry): Promise<string> {
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error === null ? resolve(opened) : reject(error)))
  })
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
