/**
 * Program of a lane's thread, which Piscina loads. Puts together what runs on lanes: the lane itself and the
 * readers of the forms in which surfaces write their inputs. The lane is open before Piscina can give it a
 * batch.
 */
import { httpForm } from './surface/http/lane/form.js'
import { startLane } from './worker/lane/lane.js'
import { msgpackForm } from './worker/request/msgpack_form.js'

export const runBatch = await startLane({ json: httpForm, msgpack: msgpackForm })
