/**
 * Rewrites a store in the form that versions before format 4 wrote: heads without content hashes, counters
 * without sums.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sealBackup } from '../../../src/store/backup/backup_file.js'
import { pack } from '../../../src/store/rows/packages.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { writeHead } from '../../../src/store/documents/heads.js'
import { encodeHead, textOfHead } from '../../../src/store/head.js'
import { counterKey } from '../../../src/store/rows/keys.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { presentEpoch } from '../../../src/store/epochs.js'
import { emptyKeyring, type Keyring } from '../../../src/store/sealing/keyring.js'
import { View } from '../../../src/store/view.js'

const FORMAT = Buffer.from('format')

/** @param directory of a server that has ended */
export async function forgetHashes(directory: string, keyring: Keyring = emptyKeyring()): Promise<void> {
  const environment = openEnvironment(currentGeneration(directory), keyring)
  const { root, settings, counters } = environment
  const view = new View(environment, 0)
  for (const { id } of view.collections()) {
    const { documents, revisions, metaTriples, nextDocid } = view.collectionCounters(id)
    root.transactionSync(() => {
      for (const docid of view.docidsFrom(id, 1, documents)) {
        const head = view.headEvenExpired(id, docid)
        if (head !== undefined) writeHead(environment, id, docid, encodeHead({ ...head, contentHash: undefined }, textOfHead(head)))
      }
      counters.put(counterKey(id), pack([documents, revisions, metaTriples, 0x12345678, nextDocid]))
    })
  }
  root.transactionSync(() => settings.put(FORMAT, Buffer.from([3, 1])))
  await root.close()
}

/**
 * Writes a backup of a store without hashes, as the earlier version would have written it.
 * @param directory of the store, whose server has ended since `forgetHashes` or not begun
 * @param backups the folder of the backup, which is named `old.db`
 */
export async function backUpUnhashed(directory: string, backups: string): Promise<void> {
  // Opened without writing, the store keeps its format.
  const environment = openEnvironment(currentGeneration(directory), emptyKeyring(), undefined, true)
  const file = join(backups, 'old.db')
  const about = { epoch: presentEpoch(environment), lastLsn: new View(environment, 0).storeCounters().lastLsn, createdAt: 1_700_000_000 }
  mkdirSync(backups, { recursive: true })
  await environment.root.backup(file, true)
  await environment.root.close()
  await sealBackup(file, about)
}

/** Documents without a hash in all collections of a store whose server has ended. */
export async function countUnhashed(directory: string): Promise<number> {
  const environment = openEnvironment(currentGeneration(directory))
  const view = new View(environment, 0)
  const count = view.collections().reduce((sum, { id }) => sum + view.collectionCounters(id).unhashed, 0)
  await environment.root.close()
  return count
}
