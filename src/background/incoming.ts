/** What the front end does for the requests that bring documents in. Front-end thread only. */
import type { Config } from '../config/config.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import type { Outbound } from '../outbound/safe_fetch.js'
import type { Converters } from './converters.js'
import { servePageImports } from './page_imports.js'
import { serveUploads } from './uploads.js'

export function serveIncoming(dispatcher: Dispatcher, outbound: Outbound, converters: Converters, config: Config): void {
  servePageImports(dispatcher, outbound, converters, config)
  serveUploads(dispatcher, converters, config)
}
