/** Test tools for the front end without a surface: a dispatcher, and requests as a surface makes them. */
import { ANONYMOUS } from '../../src/access/principal.js'
import type { Config } from '../../src/config/config.js'
import { Dispatcher } from '../../src/dispatch/dispatcher.js'
import { Lanes } from '../../src/dispatch/lanes.js'
import { LoopOperations } from '../../src/dispatch/loop_operations.js'
import type { Surface } from '../../src/dispatch/surface.js'
import type { DispatchRequest } from '../../src/dispatch/ticket.js'
import { entryOf } from '../../src/errors.js'
import { laneOperations, operationByName, operations } from '../../src/operations/index.js'
import type { AnyOperation } from '../../src/operations/row/operation.js'
import { generationsOf, openDataDirectory } from '../../src/store/files/layout.js'
import { installTelemetry, Telemetry } from '../../src/telemetry/registry.js'
import type { OutgoingAnswer } from '../../src/wire/answer.js'
import type { ControlBlock } from '../../src/wire/control_block.js'
import { noObjects } from './store/no_objects.js'

export const SURFACE: Surface = { name: 'test', mode: 'wr', index: 1 }

/** Loop operations with empty answers. */
export const emptyLoop = new LoopOperations(
  operations.filter(({ cost }) => cost === 'loop').map((row) => [row, () => ({ body: '{}' })]),
  {},
)

/** Counters of this thread, as in a server. */
export function ownTelemetry(): Telemetry {
  const telemetry = Telemetry.create(laneOperations.map(({ name }) => name))
  telemetry.claimRow()
  installTelemetry(telemetry)
  return telemetry
}

/** @param surfaces number of surfaces that clients can reach */
export function dispatcherOf(config: Config, control: ControlBlock, telemetry: Telemetry, surfaces = 1): Dispatcher {
  return new Dispatcher(config, control, telemetry, noObjects, emptyLoop, surfaces)
}

/** Starts real lanes over the store of the configuration, which may be empty. */
export async function lanesOf(config: Config, control: ControlBlock, telemetry: Telemetry, dispatcher: Dispatcher): Promise<Lanes> {
  openDataDirectory(config.path)
  return await new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(reason))
    const listener = { onReady: () => resolve(started), onFailed: fail, onFatal: fail }
    const started: Lanes = new Lanes(config, control, telemetry, dispatcher, listener, generationsOf(config.path))
  })
}

/**
 * @param operation by its name, or any row. A lane rejects a row that is not in the table by an assertion,
 *   which loses the batch but not the lane.
 */
export function requestOf(
  { admission }: Dispatcher,
  operation: string | AnyOperation,
  input: unknown,
  change: Partial<DispatchRequest> = {},
): Omit<DispatchRequest, 'sink'> {
  const row = typeof operation === 'string' ? operationByName.get(operation)! : operation
  return {
    admitted: admission.admitOwn(row),
    input: { form: 'json', head: '', params: [], body: Buffer.from(JSON.stringify(input)), mayCompress: false },
    principal: ANONYMOUS,
    receivedAt: performance.now(),
    ...change,
  }
}

/** The HTTP status of the answer. */
export function statusOf({ code }: OutgoingAnswer): number {
  return code === null ? 200 : entryOf(code).http
}
