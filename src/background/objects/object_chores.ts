/** The chores of bodies in object stores, for the list of services. Front-end thread only. */
import type { ChoreTools } from '../../chore.js'
import type { Config } from '../../config/config.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import type { Service } from '../../services.js'
import type { Telemetry } from '../../telemetry/registry.js'
import { BodyMoves } from './body_moves.js'
import type { ObjectIo } from './object_io.js'
import { ObjectSweep } from './object_sweep.js'
import { PlaintextSweep } from './plaintext_sweep.js'

interface Parts {
  readonly config: Config
  readonly dispatcher: Dispatcher
  readonly objects: ObjectIo
  readonly telemetry: Telemetry
}

export function objectChores({ config, dispatcher, objects, telemetry }: Parts, tools: ChoreTools): readonly Service[] {
  return [
    new BodyMoves(dispatcher, telemetry, tools),
    new ObjectSweep(dispatcher, objects, telemetry, config.objectRetentionSeconds, tools),
    new PlaintextSweep(dispatcher, objects.stores, telemetry, tools),
  ]
}
