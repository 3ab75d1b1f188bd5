/**
 * An embedding provider for benches. It speaks OpenAI's protocol on loopback and returns a precomputed vector
 * for each known text. A bench can therefore search by text, as users do, over the full path.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Vectors {
  readonly count: number
  readonly dimensions: number
  /** Vectors one after the other. */
  readonly values: Float32Array
}

/** Reads a NumPy file of version 1 with a row-major matrix of f32 or f16. */
export function readVectors(file: string): Vectors {
  const bytes = readFileSync(file)
  const headBytes = bytes.readUInt16LE(8)
  const head = bytes.toString('latin1', 10, 10 + headBytes)
  const [, count, dimensions] = /'shape': \((\d+), (\d+)\)/u.exec(head) ?? []
  const type = /'descr': '<(f[24])'/u.exec(head)?.[1]
  if (count === undefined || dimensions === undefined || type === undefined || head.includes("'fortran_order': True"))
    throw new Error(`${file}: not a matrix that this reads: ${head}`)
  const body = bytes.subarray(10 + headBytes)
  const length = Number(count) * Number(dimensions)
  const values = type === 'f4' ? new Float32Array(new Uint8Array(body).buffer, 0, length) : halves(body, length)
  return { count: Number(count), dimensions: Number(dimensions), values }
}

export function vectorAt({ dimensions, values }: Vectors, row: number): Float32Array {
  return values.subarray(row * dimensions, (row + 1) * dimensions)
}

function halves(body: Buffer, length: number): Float32Array {
  return Float32Array.from({ length }, (_, at) => half(body.readUInt16LE(at * 2)))
}

/** IEEE 754 binary16. */
function half(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023]
  const sign = (bits & 0x8000) === 0 ? 1 : -1
  if (exponent === 0) return sign * fraction * 2 ** -24
  return exponent === 31 ? (fraction === 0 ? sign * Infinity : Number.NaN) : sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** Serves vectors by text; an unknown text is refused. */
export class GivenVectors {
  readonly #known = new Map<string, Float32Array>()

  private constructor(
    readonly server: Server,
    readonly dimensions: number,
  ) {}

  static async start(dimensions: number): Promise<GivenVectors> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const given = new GivenVectors(server, dimensions)
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly input: readonly string[] }
        const answer = given.#answer(input)
        response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/json' }).end(answer ?? '{}')
      })
    })
    return given
  }

  know(text: string, vector: Float32Array): void {
    this.#known.set(text.trim(), vector)
  }

  /** Environment of the server that uses this provider. Each document is one chunk. */
  get environment(): Readonly<Record<string, string>> {
    return {
      SVC_EMBEDDING_PROVIDER: 'openai',
      SVC_EMBEDDING_API_URL: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`,
      SVC_EMBEDDING_DIMENSIONS: String(this.dimensions),
      SVC_EMBEDDING_CHUNK_ENABLED: 'false',
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  #answer(texts: readonly string[]): string | undefined {
    const data = texts.map((text, index) => ({ index, embedding: [...(this.#known.get(text.trim()) ?? [])] }))
    return data.every(({ embedding }) => embedding.length > 0) ? JSON.stringify({ data }) : undefined
  }
}
