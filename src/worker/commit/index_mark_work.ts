/** Work that records in the store whether documents may be missing from the index. Write lane only. */
import type { Work } from './commit_work.js'

export function indexMarkWork(isIncomplete: boolean): Work {
  return {
    onFullDisk: 'waits',
    weight: 1,
    run(transaction) {
      transaction.markIndex(isIncomplete)
      return false
    },
    answer: () => ({ body: '' }),
  }
}
