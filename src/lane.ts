/**
 * The program of a lane's thread, which Piscina loads. Assembles the lane and the readers of the input forms
 * that surfaces write. The lane is open before Piscina can assign it a batch.
 */
import { httpForm } from './surface/http/lane/form.js'
import { startLane } from './worker/lane/lane.js'
import { msgpackForm } from './worker/request/msgpack_form.js'

export const runBatch = await startLane({ json: httpForm, msgpack: msgpackForm })
