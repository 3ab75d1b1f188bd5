/**
 * Answers requests for profiles: the front end's part of src/operations/server/profiles.ts. Front-end thread
 * only.
 */
import { refusal, refusalWith, successOf } from '../dispatch/answers/answers.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { cpuProfile, heapProfile, profiles as profilesRow } from '../operations/server/profiles.js'
import type { ProfileWanted } from '../telemetry/profile_messages.js'
import { openProfilePort } from '../telemetry/profile_port.js'
import type { OutgoingAnswer } from '../wire/answer.js'

/** The calling thread is one of those that can be profiled. */
export function serveProfiles(dispatcher: Dispatcher): void {
  const { profiled } = dispatcher
  profiled.add('main', openProfilePort())
  const makeProfile = (wanted: ProfileWanted): Promise<OutgoingAnswer> => answerProfile(dispatcher, wanted)
  dispatcher.onIo(profilesRow, () => Promise.resolve(successOf(JSON.stringify({ ...OFFERED, threads: profiled.names }))), {
    commits: false,
  })
  for (const row of [cpuProfile, heapProfile]) dispatcher.onIo(row, makeProfile, { commits: false })
}

const OFFERED = {
  profiles: [
    { path: '/debug/pprof/profile', description: 'CPU time of a thread over `seconds`.' },
    { path: '/debug/pprof/heap', description: 'Memory of the heap of a thread that is in use, by the code that allocated it.' },
  ],
}

const SUFFIXES = { cpu: { pprof: 'pb.gz', v8: 'cpuprofile' }, heap: { pprof: 'pb.gz', v8: 'heapprofile' } } as const

async function answerProfile(dispatcher: Dispatcher, { thread, ...ask }: ProfileWanted): Promise<OutgoingAnswer> {
  const outcome = await dispatcher.profiled.profile(thread, ask)
  if (outcome === 'busy') return refusalWith('overloaded', 'a profile is under way, please retry')
  if (outcome === 'unknown') return refusalWith('notFound', `no such thread: ${dispatcher.profiled.names.join(', ')}`)
  if (outcome === 'late') return refusal('deadline')
  if (!(outcome instanceof Uint8Array)) return refusalWith('overloaded', outcome.failure)
  const name = `${ask.kind}-${thread}.${SUFFIXES[ask.kind][ask.format]}`
  const contentType = ask.format === 'v8' ? 'application/json; charset=utf-8' : 'application/octet-stream'
  return { ...successOf(outcome), contentType, facts: ['fileName', name] }
}
