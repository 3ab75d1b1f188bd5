/**
 * Documents whose bodies were in the memory of an earlier process. A start deletes them before any read, with
 * entries like those of any other delete. Write lane.
 */
import { decideDelete } from '../../domain/decision.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import { MEMORY_LOCATION } from '../../store/objects.js'
import { parseBodyKey } from '../../store/rows/keys.js'
import { noteDamage } from '../../store/rows/noted_damage.js'
import type { CommitAnswer, LaneContext } from '../request/handler.js'
import type { Work } from './commit_work.js'
import { carryOut } from './commit_work.js'

const DONE: CommitAnswer = { body: '' }

/** @returns undefined if nothing is lost */
export function lostBodiesWork({ store, sharedBodies }: LaneContext): Work | undefined {
  const [first] = store.read((view) => view.objects.bodiesAt(MEMORY_LOCATION, 1).bodies)
  if (first === undefined || sharedBodies.has(first.id)) return undefined
  return {
    onFullDisk: 'runs',
    origin: 'upkeep',
    weight: COMMIT_SLICE_DOCUMENTS_MAX,
    run(transaction, effects) {
      // Deleted bodies have left the table, so the next page is again at its beginning.
      const { bodies, next } = transaction.view.objects.bodiesAt(MEMORY_LOCATION, COMMIT_SLICE_DOCUMENTS_MAX)
      for (const { key } of bodies) {
        const { collection, docid, bodyLsn } = parseBodyKey(key)
        try {
          const head = transaction.isRetired(collection) ? undefined : transaction.view.headEvenExpired(collection, docid)
          if (head?.bodyLsn === bodyLsn) carryOut(transaction, effects, [decideDelete(transaction, head)])
          else transaction.dropObject(key)
        } catch (error) {
          noteDamage(error)
          transaction.dropObject(key)
        }
      }
      return next !== undefined && bodies.length > 0
    },
    answer: () => DONE,
  }
}
