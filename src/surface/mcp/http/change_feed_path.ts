/**
 * `GET /events` on the port of MCP: the change feed, as on the port of HTTP, from the same source and within
 * the same bounds. One object a thread.
 */
import { ANONYMOUS } from '../../../access/principal.js'
import type { Config } from '../../../config/config.js'
import { awaitAnswer } from '../../../dispatch/awaited_answers.js'
import type { Core } from '../../../dispatch/core.js'
import { FieldsRequest } from '../../../dispatch/fields_request.js'
import { KnownClient, type Surface } from '../../../dispatch/surface.js'
import { entryOf, type ErrorCode } from '../../../errors.js'
import { watchChanges } from '../../../operations/documents/change_feed.js'
import { type OutgoingAnswer, textOf } from '../../../wire/answer.js'
import type { PushedBody } from '../../../wire/body_streams.js'
import { guardedPush } from '../../guarded_push.js'
import type { EventStream } from './event_stream.js'
import type { Exchange } from './exchange.js'
import type { Asker, EndpointParts } from './parts.js'
import { answerError } from './plain_paths.js'

interface FeedParts {
  readonly config: Config
  readonly core: Core
  readonly surface: Surface
  readonly control: { readonly accessEpoch: number }
}

interface OpenFeed {
  readonly body: PushedBody
  readonly stream: EventStream
}

export class ChangeFeedPath {
  readonly #parts: FeedParts
  readonly #isStillAdmitted: EndpointParts['isStillAdmitted']
  readonly #open = new Set<OpenFeed>()

  constructor(parts: FeedParts, { isStillAdmitted }: Pick<EndpointParts, 'isStillAdmitted'>) {
    this.#parts = parts
    this.#isStillAdmitted = isStillAdmitted
  }

  async open(exchange: Exchange, { caller }: Asker): Promise<void> {
    const { core, surface } = this.#parts
    const admitted = core.admission.admit(watchChanges, surface)
    if (typeof admitted === 'string') return refuse(exchange, admitted)
    const fields = fieldsOf(exchange)
    const client = new KnownClient(caller.address, caller.agent)
    const asking = { principal: caller.principal, client }
    const { gone } = exchange
    const answer = await awaitAnswer(core, (sink) => new FieldsRequest(admitted, fields, asking, sink), gone).catch(() => null)
    if (answer === null) return
    if (answer.code !== null) refuse(exchange, answer.code, answer)
    else if (answer.push !== undefined) this.#send(exchange, answer.push)
  }

  /** The server shuts down: streams end, and say when to come again. */
  drain(): void {
    for (const { body, stream } of [...this.#open]) {
      if (body.farewell !== undefined) stream.write(body.farewell)
      body.detach('shutdown')
      stream.close()
    }
    this.#open.clear()
  }

  #send(exchange: Exchange, pushed: PushedBody): void {
    const body = this.#guarded(exchange, pushed)
    const stream = exchange.openStream()
    if (stream === null) return body.detach('clientGone')
    const feed = { body, stream }
    this.#open.add(feed)
    exchange.onClose(() => {
      if (this.#open.delete(feed)) body.detach('clientGone')
    })
    stream.onDrained = () => body.drained?.()
    body.attach({
      write: (bytes) => stream.write(bytes),
      end: () => this.#end(feed),
      close: () => this.#end(feed),
    })
  }

  #end(feed: OpenFeed): void {
    this.#open.delete(feed)
    feed.stream.close()
  }

  #guarded(exchange: Exchange, pushed: PushedBody): PushedBody {
    const { config, control } = this.#parts
    const authEnabled = config.authEnabled || config.mcpApiKeyEnabled
    const recheck = async () => ((await this.#isStillAdmitted(exchange)) ? ANONYMOUS : 'invalidToken')
    return guardedPush(pushed, { config: { authEnabled }, control, authenticator: { recheck } }, exchange)
  }
}

/** The fields of the query, and the header by which a browser resumes. */
function fieldsOf(exchange: Exchange): object {
  const lastEventId = exchange.header('last-event-id')
  return { ...Object.fromEntries(new URLSearchParams(exchange.query)), ...(lastEventId === undefined ? {} : { since: lastEventId }) }
}

function refuse(exchange: Exchange, code: ErrorCode, answer?: OutgoingAnswer): void {
  const { http, text, retryAfterSeconds } = entryOf(code)
  const headers = retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]
  if (answer === undefined) answerError(exchange, http, text, headers)
  else exchange.answerJson(http, textOf(answer), headers)
}
