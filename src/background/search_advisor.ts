/**
 * The front end's part of the search advisor: applies settings, as a request for them by the same client
 * would. So its rights, the access mode and a full disk are asked as for any change. Front-end thread only.
 */
import { refusal, successOf } from '../dispatch/answers/answers.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { ask } from '../dispatch/inner_request.js'
import type { IoTools } from '../dispatch/io.js'
import { searchAdvisor } from '../operations/search/search_advice.js'
import { setCollectionConfig } from '../operations/settings/collection_config.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { AdviceGiven } from '../wire/messages/messages.js'

export function serveAdvice(dispatcher: Dispatcher): void {
  dispatcher.onIo<AdviceGiven>(searchAdvisor, (advice, tools) => answerAdvice(dispatcher, advice, tools), { commits: false })
}

async function answerAdvice(
  dispatcher: Dispatcher,
  { collection, suggestions, apply }: AdviceGiven,
  { principal, surface }: IoTools,
): Promise<OutgoingAnswer> {
  if (apply !== null) {
    const admitted = dispatcher.admission.admit(setCollectionConfig, surface)
    if (typeof admitted === 'string') return refusal(admitted)
    const answer = await ask(dispatcher, setCollectionConfig, { collection, ...apply }, principal)
    if (answer.code !== null) return answer
  }
  return successOf(JSON.stringify({ collection, suggestions, applied: Object.keys(apply ?? {}) }))
}
