/**
 * The parts of the process that start and stop, as one ordered list. Start runs through it in order, one
 * after another. Stop runs through all of it in reverse, whether a part was started or not, because a
 * shutdown may come during the start. Front-end thread.
 */

export interface Service {
  readonly name: string
  /** Resolves when the services after this one may start. */
  start(): void | Promise<void>
  /** Resolves when no work of it is in progress. Called once, also for a service that was not started. */
  stop(): Promise<void>
}

/** A service made of two functions; a missing one does nothing. */
export function service(
  name: string,
  parts: { readonly start?: () => void | Promise<void>; readonly stop?: () => void | Promise<void> },
): Service {
  return {
    name,
    start: () => parts.start?.(),
    stop: async () => await parts.stop?.(),
  }
}

/** Several services as one: they start in order and stop in parallel. */
export function sideBySide(name: string, parts: readonly Service[]): Service {
  return {
    name,
    start: async () => {
      for (const part of parts) await part.start()
    },
    stop: async () => {
      await Promise.all(parts.map((part) => part.stop()))
    },
  }
}

export class Services {
  #isStopping = false

  constructor(readonly services: readonly Service[]) {}

  /** Ends early if `stop` was called meanwhile. @throws the error of a service's start */
  async start(): Promise<void> {
    for (const each of this.services) {
      if (this.#isStopping) return
      await each.start()
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const each of this.services.toReversed()) await each.stop()
  }
}
