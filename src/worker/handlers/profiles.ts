/**
 * Handlers of the profiles of threads: they check the request, and the front end makes the profile. Read
 * lanes.
 */
import { badRequest } from '../../errors.js'
import { PROFILE_SECONDS_DEFAULT, PROFILE_SECONDS_MAX } from '../../limits/process.js'
import { cpuProfile, heapProfile, profiles } from '../../operations/server/profiles.js'
import type { ProfileFormat, ProfileWanted } from '../../telemetry/profile_messages.js'
import { type BoundHandler, io } from '../request/handler.js'

const MAIN = 'main'

export const profileHandlers: readonly BoundHandler[] = [
  io(profiles, () => null),
  io(cpuProfile, (_, { seconds = PROFILE_SECONDS_DEFAULT, thread = MAIN, format }): ProfileWanted => {
    if (seconds < 1 || seconds > PROFILE_SECONDS_MAX) throw badRequest(`invalid seconds: must be from 1 to ${PROFILE_SECONDS_MAX}`)
    return { kind: 'cpu', thread, seconds, format: readFormat(format) }
  }),
  io(heapProfile, (_, { thread = MAIN, format }): ProfileWanted => ({ kind: 'heap', thread, seconds: 0, format: readFormat(format) })),
]

function readFormat(format = 'pprof'): ProfileFormat {
  if (format !== 'pprof' && format !== 'v8') throw badRequest('invalid format: pprof or v8 is expected')
  return format
}
