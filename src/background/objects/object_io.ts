/**
 * The front end's work for bodies in storage backends. It sends objects before their command is committed,
 * fetches objects that a request or the index lacks, and tests a location that is to be configured. A failure
 * becomes an answer, and nothing is written then. The keys of objects being sent are recorded, so that the
 * sweep does not remove them. Front-end thread only.
 */
import { refusal, refusalWith } from '../../dispatch/answers/answers.js'
import type { ObjectTransfers } from '../../dispatch/suspensions.js'
import { OutboundRefused } from '../../outbound/destination.js'
import { ObjectLost, type ObjectStores, Unwanted } from '../../outbound/object_stores.js'
import { log } from '../../telemetry/log.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import type { FetchObjects, OutgoingObject, WantedObject } from '../../wire/messages/object_messages.js'

export class ObjectIo implements ObjectTransfers {
  readonly #underWay = new Set<string>()

  constructor(readonly stores: ObjectStores) {}

  /** Whether a command that refers to the object may still be committed. */
  isUnderWay(key: string): boolean {
    return this.#underWay.has(key)
  }

  /**
   * Sends the objects of a command while the request is still wanted, then calls `commit`. When `commit`
   * settles, the transfer of the objects is over. Never rejects.
   * @returns the refusal if a store did not accept an object; nothing is committed then
   */
  async storeFirst(
    { objects, probe }: StoreFirst,
    isWanted: () => boolean,
    commit: () => Promise<void>,
  ): Promise<OutgoingAnswer | undefined> {
    for (const { key } of objects) this.#underWay.add(key)
    try {
      if (probe !== undefined) await this.#probe(probe)
      await this.stores.put(objects, isWanted)
      await commit()
      return undefined
    } catch (error) {
      if (error instanceof Unwanted) return refusal('deadline')
      const reason = reasonOf(error)
      if (probe !== undefined) return unreachable(reason)
      log.error('not written', { reason })
      return refusal('backendUnavailable')
    } finally {
      for (const { key } of objects) this.#underWay.delete(key)
    }
  }

  /**
   * Never rejects.
   * @param isForClient whether the answer goes to a client that may read the documents, and into no log or
   * record
   * @returns the refusal if they are unavailable; for a lost object it names the document
   */
  async bring(objects: readonly WantedObject[], isForClient: boolean): Promise<OutgoingAnswer | undefined> {
    try {
      await this.stores.bring(objects)
      return undefined
    } catch (error) {
      const owner = error instanceof ObjectLost ? objects.find(({ key }) => key === error.key)?.owner : undefined
      const whose = (words: string | undefined): string => (words === undefined ? '' : `: the body of ${words}`)
      log.error('not read', { reason: `${reasonOf(error)}${whose(owner?.logged)}` })
      if (error instanceof ObjectLost) {
        const text = error.message + whose(isForClient ? owner?.named : owner?.logged)
        return refusalWith('damaged', text)
      }
      return refusal('backendUnavailable')
    }
  }

  /** For the index of a lane, which continues with the objects that are available. */
  readonly bringEach: FetchObjects = (objects) => this.stores.bringEach(objects)

  /** Tests that the location stores, returns and deletes an object. */
  async #probe({ location, key, bytes }: OutgoingObject): Promise<void> {
    const client = this.stores.client(location)
    await client.put(key, bytes)
    const found = await client.get(key)
    if (found?.equals(bytes) !== true) throw new ObjectLost(key, 'it was put there, and something else came back')
    await client.delete(key)
  }
}

function unreachable(reason: string): OutgoingAnswer {
  return refusalWith('invalid', `storage backend unreachable: ${reason}`)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && !(error instanceof OutboundRefused) ? `${error.message}: ${cause.message}` : error.message
}
