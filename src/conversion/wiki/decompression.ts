/**
 * The bytes of a dump, decompressed if they begin as gzip or as bzip2 does, whatever the file is called.
 * gzip is read by zlib; bzip2, of one or many streams, by a child process: `bzip2` where it is installed,
 * else a program of this installation that is a quarter as fast. The caller bounds what comes out. Chunks are
 * passed on as they are asked for, so a bomb costs no memory.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { constants, createGunzip } from 'node:zlib'
import { programPath } from '../../base/installation.js'
import { KIB } from '../../limits/units.js'
import { DumpError } from './dump_error.js'

const CHUNK_BYTES = 256 * KIB
/** Characters of a decompressor's message that are kept: its first line has under 100. */
const MESSAGE_CHARS_MAX = 500

export interface Bunzip2 {
  readonly program: string
  readonly args: readonly string[]
}

const INSTALLED: Bunzip2 = { program: 'bzip2', args: ['-dc'] }
/** 64 MB are enough for a block of 900 KB as a list of numbers, and its output. */
export const ownBunzip2 = (): Bunzip2 => ({ program: process.execPath, args: ['--max-old-space-size=256', programPath('bunzip2')] })

/**
 * @param bytesMax decompressed, or as they are
 * @param bunzip2 tried in this order, the next one where a program is not installed
 * @throws DumpError `compression` or `too-many-bytes` behind the bytes before the fault; what `source` throws
 */
export async function* decompressDump(
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
  bunzip2: readonly Bunzip2[] = [INSTALLED, ownBunzip2()],
): AsyncGenerator<Uint8Array> {
  const input = new PeekedSource(source)
  const [a, b, c] = await input.peek(3)
  const chunks =
    a === 0x1f && b === 0x8b ? gunzip(input) : a === 0x42 && b === 0x5a && c === 0x68 ? runBunzip2(input, bunzip2) : input.chunks()
  let bytes = 0
  for await (const chunk of chunks) {
    if (bytes + chunk.length > bytesMax) yield chunk.subarray(0, bytesMax - bytes)
    bytes += chunk.length
    if (bytes > bytesMax) throw new DumpError('too-many-bytes', `over ${bytesMax} bytes decompressed`)
    yield chunk
  }
}

/** A source of which the first bytes can be looked at. Remembers its own failure. */
class PeekedSource {
  readonly #iterator: AsyncIterator<Uint8Array>
  #head: Uint8Array = Buffer.alloc(0)
  failure: { readonly cause: unknown } | undefined

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#iterator = source[Symbol.asyncIterator]()
  }

  async peek(bytes: number): Promise<Uint8Array> {
    while (this.#head.length < bytes) {
      const next = await this.#iterator.next()
      if (next.done === true) break
      this.#head = Buffer.concat([this.#head, next.value])
    }
    return this.#head
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      if (this.#head.length > 0) yield this.#head
      for (let next = await this.#iterator.next(); next.done !== true; next = await this.#iterator.next()) yield next.value
    } catch (cause) {
      this.failure = { cause }
      throw cause
    } finally {
      await this.#iterator.return?.()
    }
  }
}

/** A file that is cut off ends here without an error; the XML in it is cut off too. */
async function* gunzip(input: PeekedSource): AsyncGenerator<Uint8Array> {
  const compressed = Readable.from(input.chunks(), { objectMode: false })
  const stream = createGunzip({ chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH })
  compressed.on('error', (error) => stream.destroy(error))
  compressed.pipe(stream)
  try {
    for await (const chunk of stream) yield chunk as Buffer
  } catch (error) {
    if (input.failure !== undefined) throw input.failure.cause
    throw new DumpError('compression', `gzip: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    compressed.destroy()
    stream.destroy()
  }
}

async function* runBunzip2(input: PeekedSource, candidates: readonly Bunzip2[]): AsyncGenerator<Uint8Array> {
  const child = await start(candidates)
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('a child without pipes')
  let message = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    message = (message + text).slice(0, MESSAGE_CHARS_MAX)
  })
  const closed = once(child, 'close')
  // Not awaited where the reader stops early.
  closed.catch(() => undefined)
  const compressed = Readable.from(input.chunks(), { objectMode: false })
  // A child that has found a fault reads no further; its exit code says so.
  stdin.on('error', () => undefined)
  compressed.on('error', () => child.kill('SIGKILL'))
  compressed.pipe(stdin)
  try {
    for await (const chunk of stdout) yield chunk as Buffer
    const [code] = (await closed) as [number | null]
    if (input.failure !== undefined) throw input.failure.cause
    if (code !== 0) throw new DumpError('compression', `bzip2: ${firstLine(message)}`)
  } finally {
    compressed.destroy()
    child.kill('SIGKILL')
  }
}

async function start(candidates: readonly Bunzip2[]): Promise<ChildProcess> {
  let failure: unknown
  for (const { program, args } of candidates) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } })
    try {
      await once(child, 'spawn')
      return child
    } catch (error) {
      failure = error
    }
  }
  throw new DumpError('compression', `bzip2 cannot be started: ${failure instanceof Error ? failure.message : String(failure)}`)
}

function firstLine(message: string): string {
  const line = message.trim().split('\n', 1)[0] ?? ''
  return line.replace(/^bzip2:\s*/, '') || 'damaged or cut off'
}
