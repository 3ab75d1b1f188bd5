/** What the front end does for the requests that bring documents in. Front-end thread only. */
import type { Dispatcher } from '../dispatch/dispatcher.js'
import type { Outbound } from '../outbound/safe_fetch.js'
import type { Converters } from './converters.js'
import { servePageImports } from './page_imports.js'
import { serveUploads } from './uploads.js'

/** @param directory the data directory */
export function serveIncoming(dispatcher: Dispatcher, outbound: Outbound, converters: Converters, directory: string): void {
  servePageImports(dispatcher, outbound, converters, directory)
  serveUploads(dispatcher, converters, directory)
}
