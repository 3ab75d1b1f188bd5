/**
 * The core for calls of MCP. A get is answered by this thread itself where it can be, as on the event loops
 * of HTTP (docs/decisions/point-reads.md); everything else is asked over the port. One object a thread.
 */
import type { Surface } from '../../dispatch/surface.js'
import { refusal } from '../../dispatch/answers.js'
import { RESIDENT_INPUT_BYTES_MAX } from '../../limits/loops.js'
import { get } from '../../operations/documents.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { CoreClient } from '../thread/core_client.js'
import type { CoreAnswer } from '../thread/core_port.js'
import type { RemoteCore } from '../thread/remote_core.js'
import type { Call, CoreAccess } from './protocol/call.js'

export class McpCore implements CoreAccess {
  readonly #core: CoreClient
  readonly #remote: RemoteCore
  readonly #surface: Surface

  constructor(core: CoreClient, remote: RemoteCore, surface: Surface) {
    this.#core = core
    this.#remote = remote
    this.#surface = surface
  }

  async ask(operation: string, input: object, call: Call): Promise<CoreAnswer> {
    const { signal, caller } = call
    if (operation === get.name) {
      const read = this.#read(input, call)
      if (read !== null) return await read
    }
    const { principal, address, agent } = caller
    const client = { ...(address === '' ? {} : { address }), ...(agent === '' ? {} : { agent }) }
    return await this.#core.ask(operation, input, { principal, signal, ...client })
  }

  async more(answer: CoreAnswer, signal: AbortSignal): Promise<CoreAnswer> {
    return await this.#core.more(answer, signal)
  }

  cancel({ id }: CoreAnswer): void {
    this.#core.cancel(id)
  }

  /** @returns null if the thread does not read the document itself */
  #read(input: object, { caller, signal }: Call): Promise<CoreAnswer> | null {
    const body = Buffer.from(JSON.stringify(input))
    if (body.length > RESIDENT_INPUT_BYTES_MAX) return null
    const admitted = this.#remote.admission.admit(get, this.#surface)
    if (typeof admitted === 'string') return Promise.resolve(wholeAnswer(refusal(admitted)))
    const { principal, address, agent } = caller
    return new Promise((resolve, reject) => {
      const handle = this.#remote.submit({
        admitted,
        input: { form: 'json', head: '', params: [], body, mayCompress: false },
        principal,
        client: { clientAddress: () => address, userAgent: () => agent },
        receivedAt: performance.now(),
        sink: { answer: (answer) => resolve(wholeAnswer(answer)) },
      })
      if (handle === null) return
      const leave = (): void => {
        this.#remote.abandon(handle)
        reject(new Error('cancelled'))
      }
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    })
  }
}

/** A copy: the body of an answer is valid during the call of its sink. */
function wholeAnswer({ code, contentType, facts, isCompressed, body }: OutgoingAnswer): CoreAnswer {
  return {
    kind: 'answer',
    id: 0,
    code,
    contentType,
    facts,
    isCompressed,
    body: typeof body === 'string' ? Buffer.from(body) : new Uint8Array(body),
    isPage: false,
    hasMore: false,
  }
}
