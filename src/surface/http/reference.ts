/** The reference pages: OpenAPI document and HTML, built when they are first asked for. Front-end thread. */
import type { BoundLoopHandler } from '../../dispatch/loop_operations.js'
import { docs, openapi } from '../../operations/health.js'
import { offered } from '../../operations/index.js'
import type { Operation } from '../../operations/operation.js'
import type { Answer } from '../../wire/answer.js'
import { buildDocsPage } from './docs_page.js'
import { buildOpenApi } from './openapi.js'

/** @param options of the server: which features are on */
export function referencePages(options: object): readonly BoundLoopHandler[] {
  return [
    [openapi, builtOnce(options, (rows) => ({ body: JSON.stringify(buildOpenApi(rows)), isPage: true }))],
    [docs, builtOnce(options, (rows) => ({ body: buildDocsPage(rows), contentType: 'text/html; charset=utf-8', isPage: true }))],
  ]
}

/**
 * The same answer to everybody, from the first request on: what is offered does not change while a server
 * runs.
 */
function builtOnce(options: object, build: (rows: readonly Operation[]) => Answer): () => Answer {
  let built: Answer | undefined
  return () => (built ??= build(offered(options)))
}
