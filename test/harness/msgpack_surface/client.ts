/** A client of the surface, and the edits that install the surface in a scratch copy of the server. */
import { connect, type Socket } from 'node:net'
import type { Edit } from '../scratch_copy.js'
import { type Answered, type Asked, frameOf, FrameReader } from './frames.js'
import { SOCKET_VARIABLE } from './index.js'

/** The one line in the list of surfaces, and its import. */
export const SURFACE_EDITS: readonly Edit[] = [
  {
    file: 'src/surface/index.ts',
    find: "import { httpSurface } from './http/http_surface.js'\n",
    replace:
      "import { httpSurface } from './http/http_surface.js'\nimport { msgpackSurface } from '../../test/harness/msgpack_surface/index.js'\n",
  },
  { file: 'src/surface/index.ts', find: '= [httpSurface', replace: '= [httpSurface, msgpackSurface' },
]

/** @param path of the socket */
export function surfaceEnv(path: string): Readonly<Record<string, string>> {
  return { [SOCKET_VARIABLE]: path }
}

/** Whether a surface listens on the socket. */
export async function isReachable(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      resolve(true)
      socket.destroy()
    })
    socket.on('error', () => resolve(false))
  })
}

export class Client {
  readonly #socket: Socket
  readonly #frames = new FrameReader()
  readonly #waiting = new Map<number, (answer: Answered) => void>()
  #lastId = 0

  constructor(path: string) {
    this.#socket = connect(path)
    // The surface may end first.
    this.#socket.on('error', () => undefined)
    this.#socket.on('data', (chunk) => {
      for (const each of this.#frames.take(chunk)) {
        const answer = each as Answered
        this.#waiting.get(answer.id)?.(answer)
      }
    })
  }

  /** @param operation hostile clients send other types than text */
  ask(operation: unknown, input: unknown, parts?: number, user?: string): Promise<Answered> {
    const id = ++this.#lastId
    const asked: Asked = {
      id,
      operation: operation as string,
      input,
      ...(parts === undefined ? {} : { parts }),
      ...(user === undefined ? {} : { user }),
    }
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#socket.write(frameOf(asked))
    })
  }

  end(): void {
    this.#socket.destroy()
  }
}
