/**
 * The pages: OpenAPI document, reference and playground. Each is built on its first request. Front-end thread
 * only.
 */
import type { BoundLoopHandler } from '../../../dispatch/loop_operations.js'
import { offered } from '../../../operations/index.js'
import type { Operation } from '../../../operations/row/operation.js'
import { playground } from '../../../operations/server/graphql.js'
import { docs, openapi } from '../../../operations/server/health.js'
import type { Answer } from '../../../wire/answer.js'
import { playgroundPage } from '../../graphql/playground/playground_page.js'
import { buildDocsPage } from './docs_page.js'
import { buildOpenApi } from './openapi.js'

/** @param options the options of the server, which say which features are enabled */
export function referencePages(options: object): readonly BoundLoopHandler[] {
  return [
    [openapi, builtOnce(options, (rows) => ({ body: JSON.stringify(buildOpenApi(rows)), isPage: true }))],
    [docs, builtOnce(options, (rows) => ({ body: buildDocsPage(rows), contentType: 'text/html; charset=utf-8', isPage: true }))],
    [playground, builtOnce(options, playgroundPage)],
  ]
}

/** Returns the same answer for every request. The offered operations do not change while a server runs. */
function builtOnce(options: object, build: (rows: readonly Operation[]) => Answer): () => Answer {
  let built: Answer | undefined
  return () => (built ??= build(offered(options)))
}
