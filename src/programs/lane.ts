/**
 * The program of a lane's thread, which Piscina loads. Assembles the lane and the readers of the input forms
 * that surfaces write. Piscina waits for the lane to be open before it assigns it a batch.
 */
import { httpForm } from '../surface/http/lane/form.js'
import { startLane } from '../worker/lane/lane.js'
import { msgpackForm } from '../worker/request/msgpack_form.js'

/** A promise, because a program with a code cache can't await (scripts/lib/code_cache.mjs). */
export const runBatch = startLane({ json: httpForm, msgpack: msgpackForm })
