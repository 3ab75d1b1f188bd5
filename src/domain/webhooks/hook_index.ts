/**
 * The webhooks by collection and event, so that a change finds those which it concerns without looking at the
 * others. Read again where the entries since then have changed one. Write lane only.
 */
import { isOfMemory } from '../../operations/memory/memory_collections.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { DocumentChange } from '../../store/entries/document_change.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import { concerns, type Webhook, webhooksOf } from './webhook.js'

/**
 * Entries in which a change of a webhook is looked for after another setting of the server has changed: 1 ms,
 * while reading 10 000 webhooks again takes 30.
 */
const LOOKED_ENTRIES_MAX = 4096

export class HookIndex {
  #settingsLsn: bigint | undefined
  #byCollection = new Map<string, Webhook[]>()
  #ofAll: readonly Webhook[] = []
  #known = new Set<string>()
  /** Ids of webhooks that were deleted, and that may have deliveries. */
  readonly gone = new Set<string>()

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  get ids(): Iterable<string> {
    return this.#known
  }

  /** @param meet called for each webhook that was not known */
  refresh(view: View, meet: (hook: string) => void): void {
    const settingsLsn = view.settingsLsn(SERVER_SETTINGS)
    if (settingsLsn === this.#settingsLsn) return
    const isFirst = this.#settingsLsn === undefined
    if (!isFirst && !this.#hasChanged(view, settingsLsn)) {
      this.#settingsLsn = settingsLsn
      return
    }
    const unreadable: string[] = []
    const hooks = webhooksOf(view, unreadable)
    // The rows of one that can't be read stay.
    const present = new Set([...hooks.map(({ id }) => id), ...unreadable])
    const former = isFirst ? [...view.deliveries.hooksWith('waiting'), ...view.deliveries.hooksWith('dead')] : this.#known
    for (const id of former) if (!present.has(id)) this.gone.add(id)
    for (const id of present) if (!this.#known.has(id)) meet(id)
    this.#known = present
    this.#settingsLsn = settingsLsn
    this.#ofAll = hooks.filter(({ collection }) => collection === '')
    this.#byCollection = new Map()
    for (const hook of hooks) {
      const name = lowerCase(hook.collection)
      const others = this.#byCollection.get(name)
      if (others === undefined) this.#byCollection.set(name, [hook])
      else others.push(hook)
    }
  }

  /** Whether the entries since the last look have changed a webhook, or are too many or too few to tell. */
  #hasChanged(view: View, settingsLsn: bigint): boolean {
    const before = this.#settingsLsn ?? 0n
    if (before < view.storeCounters().trimmedLsn) return true
    const { topics, lsn } = view.binlog.topicsAfter(before, LOOKED_ENTRIES_MAX)
    return lsn < settingsLsn || topics.has('setting/webhook')
  }

  forget(hook: string): void {
    this.gone.delete(hook)
  }

  /** Ids of the webhooks that the change concerns. */
  of({ event, collectionName, lsn }: Pick<DocumentChange, 'event' | 'collectionName' | 'lsn'>): string[] {
    const name = lowerCase(collectionName)
    // Conversations are told to webhooks that name their collection.
    const all = isOfMemory(name) ? [] : this.#ofAll
    return [...(this.#byCollection.get(name) ?? []), ...all]
      .filter((hook) => BigInt(hook.since) <= lsn && concerns(hook, event, collectionName))
      .map(({ id }) => id)
  }
}
