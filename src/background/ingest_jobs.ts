/** Ingests that outlive their requests: bulk ingests, and imports of wikis. Front-end thread only. */
import type { ChoreTools } from '../chore.js'
import type { Config } from '../config/config.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import type { Outbound } from '../outbound/safe_fetch.js'
import type { Service } from '../services.js'
import type { Telemetry } from '../telemetry/registry.js'
import { BulkIngests } from './bulk_ingests.js'
import { WikiImports } from './wiki/wiki_imports.js'

interface IngestParts {
  readonly config: Config
  readonly dispatcher: Dispatcher
  readonly outbound: Outbound
  readonly telemetry: Telemetry
}

export function ingestJobs({ config, dispatcher, outbound, telemetry }: IngestParts, tools: ChoreTools): readonly Service[] {
  return [new BulkIngests(config, dispatcher, outbound, telemetry, tools), new WikiImports(config, dispatcher, tools)]
}
