/**
 * `mds add` and `mds delete`: commands for one document. An error is printed in one line, with exit code 1.
 */
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { MIB } from '../limits/units.js'
import { request } from './client.js'
import { CommandError } from './terminal.js'

/** Bytes that `mds add` reads: the largest body that a server accepts by default. */
const ADDED_FILE_BYTES_MAX = 32 * MIB

export interface AddOptions {
  readonly url: string
  /** A path. `-` or undefined: standard input. */
  readonly file?: string
  /** In the form `k=v1|v2,k2=v`. */
  readonly meta?: string
  readonly ttl?: number
}

/** @returns the document from the server's response */
export async function addDocument(collection: string, key: string, lang: string, options: AddOptions): Promise<unknown> {
  const { url, file = '-', ttl } = options
  const meta = options.meta === undefined ? {} : parseMeta(options.meta)
  const contentMd = await contentOf(file)
  return await request(url, 'POST', '/v1/add', { collection, key, lang, meta, contentMd, ...(ttl === undefined ? {} : { ttl }) })
}

export async function deleteDocument(collection: string, key: string, lang: string, url: string): Promise<unknown> {
  return await request(url, 'POST', '/v1/delete', { collection, key, lang })
}

/** @throws CommandError if a part is not `name=values`, or a name occurs twice */
function parseMeta(text: string): Record<string, readonly string[]> {
  const entries = text.split(',').map((part): [string, readonly string[]] => {
    const at = part.indexOf('=')
    if (at <= 0) throw new CommandError(`${JSON.stringify(part)} is no metadata: name=value, or name=one|two, with commas in between`)
    return [part.slice(0, at), part.slice(at + 1).split('|')]
  })
  const meta = new Map(entries)
  if (meta.size < entries.length) throw new CommandError('a name of metadata stands twice; several values are name=one|two')
  // fromEntries treats `__proto__` like any other name.
  return Object.fromEntries(meta)
}

async function contentOf(path: string): Promise<string> {
  const name = path === '-' ? 'standard input' : path
  const bytes = path === '-' ? await bytesOf(process.stdin, name) : await bytesOfFile(path)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${name} is not UTF-8 text`)
  }
}

async function bytesOfFile(path: string): Promise<Buffer> {
  try {
    const file = await open(path)
    try {
      return await bytesOf(file.createReadStream({ autoClose: false }), path)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  }
}

async function bytesOf(stream: Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ADDED_FILE_BYTES_MAX)
      throw new CommandError(`${name} is larger than ${ADDED_FILE_BYTES_MAX} bytes, more than a server takes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
