/**
 * What the front end does about bodies in storage backends: sends objects before their command is committed,
 * fetches those that a request or the index lacks, tries a location that is to be configured. A failure is an
 * answer; nothing is written then. The keys of objects that are being sent are known, so that the sweep
 * leaves them alone. Front-end thread only.
 */
import { OutboundRefused } from '../../outbound/destination.js'
import { ObjectLost, Unwanted, type ObjectStores } from '../../outbound/object_stores.js'
import type { StoreFirst } from '../../wire/messages.js'
import type { FetchObjects, OutgoingObject, WantedObject } from '../../wire/object_messages.js'
import { refusal, refusalWith } from '../../dispatch/answers.js'
import type { ObjectTransfers } from '../../dispatch/suspensions.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import { log } from '../../telemetry/log.js'

export class ObjectIo implements ObjectTransfers {
  readonly #underWay = new Set<string>()

  constructor(readonly stores: ObjectStores) {}

  /** Whether a command that refers to the object may still be committed. */
  isUnderWay(key: string): boolean {
    return this.#underWay.has(key)
  }

  /**
   * Sends what the command needs, as long as somebody waits for it, and calls `commit`, whose end is the end
   * of the objects' way. Never rejects.
   * @returns the refusal where a store did not take it; nothing is committed then
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
   * @param isForClient whether the answer goes to who may read the documents, and into no log or record
   * @returns the refusal where they can't be had; of an object that is lost it says whose it is
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

  /** For the index of a lane: it goes on with what could be had. */
  readonly bringEach: FetchObjects = (objects) => this.stores.bringEach(objects)

  /** Whether the location takes an object, gives it back and lets go of it. */
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
