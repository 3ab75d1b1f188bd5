/**
 * A request of a surface that has its input as fields: all but HTTP. They are encoded only if the request
 * leaves its thread, as JSON: alone among the forms it keeps every name and every text.
 */
import type { Principal } from '../access/principal.js'
import type { AnswerSink } from '../wire/answer.js'
import type { EncodedInput } from '../wire/form.js'
import { msgpackInput } from '../wire/msgpack_input.js'
import type { Admitted } from './admission.js'
import type { RequestClient } from './surface.js'
import type { DispatchRequest } from './ticket.js'

const NO_PARAMS: readonly string[] = []
const UTF8 = new TextEncoder()

/** On whose behalf a request is made. */
export interface Asking {
  readonly principal: Principal
  readonly client: RequestClient
  /** As that of a request. */
  readonly deadlineMs?: number | undefined
}

export class FieldsRequest implements DispatchRequest {
  readonly receivedAt = performance.now()
  readonly principal: Principal
  readonly client: RequestClient
  readonly deadlineMs: number | undefined

  constructor(
    readonly admitted: Admitted,
    readonly fields: object,
    { principal, client, deadlineMs }: Asking,
    readonly sink: AnswerSink,
  ) {
    this.principal = principal
    this.client = client
    this.deadlineMs = deadlineMs
  }

  get input(): EncodedInput {
    // Its fields are plain values, and few. As JSON, the loop would look for them in a query string.
    if (this.admitted.operation.cost === 'loop') return msgpackInput(this.fields)
    return { form: 'json', head: '', params: NO_PARAMS, body: UTF8.encode(JSON.stringify(this.fields)), mayCompress: false }
  }
}
