/** What a surface is given by the server that runs it, and what the server knows of a surface before. */
import type { Config } from '../config/config.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import type { BoundLoopHandler, LoopInputReader } from '../dispatch/loop_operations.js'
import type { AccessMode } from '../config/values.js'
import type { RunningSurface, Surface } from '../dispatch/surface.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { Form } from '../wire/form.js'

export interface SurfaceHost {
  readonly config: Config
  readonly dispatcher: Dispatcher
  readonly telemetry: Telemetry
  /** Itself, as the core knows it. */
  readonly surface: Surface
}

export interface SurfaceDefinition {
  readonly name: string
  /** What its clients may do; undefined: it is switched off. */
  mode(config: Config): AccessMode | undefined
  open(host: SurfaceHost): RunningSurface
  /** Operations on the loop that are its own, such as pages. */
  loopHandlers?(config: Config): readonly BoundLoopHandler[]
  /** Reads inputs in a form of its own on the loop. */
  readonly loopReaders?: Readonly<Partial<Record<Form, LoopInputReader>>>
}
