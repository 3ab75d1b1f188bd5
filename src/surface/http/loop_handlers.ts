/** Every answer that is made on the loop, by the name of its operation, checked against the table at load. The reference pages are built when they are first asked for. Front-end thread. */
import type { Config } from '../../config.js'
import { loopAnswers } from '../../system/loop_answers.js'
import type { LoopHandler } from '../../system/server_state.js'
import { offered, operations } from '../../operations/index.js'
import type { Operation } from '../../operations/operation.js'
import type { Answer } from '../../worker/request/handler.js'
import { buildDocsPage, docsPolicy } from './docs_page.js'
import { buildOpenApi } from './openapi.js'

const answerOpenApi = builtOnce((rows) => ({ status: 200, body: JSON.stringify(buildOpenApi(rows)), isPage: true }))
const answerDocs = builtOnce((rows) => ({
  status: 200,
  body: buildDocsPage(rows),
  contentType: 'text/html; charset=utf-8',
  isPage: true,
  headers: [['Content-Security-Policy', docsPolicy()]],
}))

export const loopHandlers: ReadonlyMap<string, LoopHandler> = checked(
  new Map([...loopAnswers, ['openapi', answerOpenApi], ['docs', answerDocs]]),
)

/** The same answer to everybody, from the first request on: what is offered does not change while a server runs. */
function builtOnce(build: (rows: readonly Operation[]) => Answer): LoopHandler {
  const built = new WeakMap<Config, Answer>()
  return ({ config }) => {
    const answer = built.get(config) ?? build(offered(config))
    built.set(config, answer)
    return answer
  }
}

/** @throws Error where table and functions differ: a mistake of ours. */
function checked(handlers: ReadonlyMap<string, LoopHandler>): ReadonlyMap<string, LoopHandler> {
  const wanted = new Set(operations.filter((row) => row.cost === 'loop').map((row) => row.name))
  for (const name of wanted) if (!handlers.has(name)) throw new Error(`operation ${name} runs on the loop and has no function there`)
  for (const name of handlers.keys())
    if (!wanted.has(name)) throw new Error(`the loop answers ${name}, which is not an operation of the loop`)
  return handlers
}
