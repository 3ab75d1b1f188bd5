/**
 * Admission control: the conditions under which an operation is refused for every principal. They are access
 * mode, phase, warm-up, full disk, a strict audit log that cannot be written, too many logins that wait for a
 * hash, and restore. A surface checks admission before it reads the body of a request, so that a refused
 * request costs nothing. Every request that is submitted has been admitted. Queue bounds are enforced
 * separately (request_queue.ts). Front-end thread only.
 */
import type { ErrorCode } from '../errors.js'
import type { AnyOperation, Operation } from '../operations/row/operation.js'
import type { ControlBlock } from '../wire/control_block.js'
import { OWN, type Surface } from './surface.js'

declare const isAdmitted: unique symbol

/** An operation that may run now on behalf of a surface. Only `Admission` creates one. */
export interface Admitted {
  readonly [isAdmitted]: true
  readonly operation: AnyOperation
  readonly surface: Surface
}

export class Admission {
  readonly #admitted = new Map<Surface, Map<AnyOperation, Admitted>>()

  constructor(readonly control: ControlBlock) {}

  /** @returns the token, or the error code of the refusal */
  admit(operation: Operation, surface: Surface): Admitted | ErrorCode {
    return this.#refusalOf(operation, surface) ?? this.#tokenOf(operation, surface)
  }

  /**
   * For a request that an event loop in a thread has admitted before it read the body: only the access mode
   * is checked again.
   */
  admitAgain(operation: Operation, surface: Surface): Admitted | ErrorCode {
    return this.#refusalOfMode(operation, surface) ?? this.#tokenOf(operation, surface)
  }

  /** Admits a request that the server makes of its own lanes, in every phase. */
  admitOwn(operation: AnyOperation): Admitted {
    return this.#tokenOf(operation, OWN)
  }

  #refusalOfMode({ effect }: Operation, { mode }: Surface): ErrorCode | null {
    if (effect === 'write' && mode === 'read') return 'readOnlyMode'
    return effect === 'read' && mode === 'write' ? 'writeOnlyMode' : null
  }

  #refusalOf(operation: Operation, surface: Surface): ErrorCode | null {
    const refused = this.#refusalOfMode(operation, surface)
    if (refused !== null) return refused
    const { effect, cost, freesSpace, waitsForHash } = operation
    const { control } = this
    const phase = control.phase
    if (phase === 'draining' && cost !== 'loop') return 'shuttingDown'
    if (phase === 'unhealthy' && effect === 'write') return 'unhealthy'
    if (control.diskFull && effect === 'write' && freesSpace !== true) return 'diskFull'
    if (effect === 'write' && control.auditRefuses) return 'auditUnwritable'
    if (waitsForHash === true && control.loginsRefused) return 'tooManyLogins'
    if (phase === 'warming_up' && (effect === 'write' || cost === 'search')) return 'warmingUp'
    if (cost === 'search' && control.indexStale) return 'warmingUp'
    return null
  }

  /**
   * Returns one shared token per (surface, operation) pair, so that admission allocates nothing per request.
   */
  #tokenOf(operation: AnyOperation, surface: Surface): Admitted {
    let ofSurface = this.#admitted.get(surface)
    if (ofSurface === undefined) this.#admitted.set(surface, (ofSurface = new Map<AnyOperation, Admitted>()))
    let token = ofSurface.get(operation)
    if (token === undefined) ofSurface.set(operation, (token = { operation, surface } as unknown as Admitted))
    return token
  }
}
