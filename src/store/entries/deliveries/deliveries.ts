/** Entries of kind `deliveries`. Layout: docs/formats/entries/deliveries.md. */
import { DELIVERY_STATES, type DeliveryOutcome } from '../../deliveries/delivery_record.js'
import { resumeHook, settleDelivery } from '../../deliveries/delivery_table.js'
import type { EntryBase, EntryKind, Fields } from '../entry_kind.js'
import { neverSealed } from '../entry_kind.js'

/** What became of deliveries to a webhook. Collection and docid are 0. */
interface DeliveriesEntry extends EntryBase {
  readonly kind: 'deliveries'
  /** Id of the webhook: 16 hexadecimal digits. */
  readonly hook: string
  readonly outcomes: readonly DeliveryOutcome[]
  /** The hook is not suspended any more. */
  readonly resumes: boolean
}

type OutcomeFields = readonly [lsn: number | bigint, state: number, attempts: number, dueAt: number, httpStatus: number, error: string]

function decode({ lsn, collection, docid }: EntryBase, fields: Fields): DeliveriesEntry {
  const [hook, outcomes, resumes] = fields as [string, readonly OutcomeFields[], boolean]
  return { kind: 'deliveries', lsn, collection, docid, hook, resumes, outcomes: outcomes.map((each) => outcomeOf(lsn, each)) }
}

function outcomeOf(lsn: bigint, [of, code, attempts, dueAt, httpStatus, error]: OutcomeFields): DeliveryOutcome {
  const state = DELIVERY_STATES[code]
  if (state === undefined) throw new Error(`binlog entry ${lsn}: unknown state of a delivery ${code}`)
  return { lsn: BigInt(of), state, attempts, dueAt, httpStatus, error }
}

export const deliveries: EntryKind<DeliveriesEntry> = {
  name: 'deliveries',
  code: 10,
  index: 'none',
  makesCollection: false,
  isCounted: false,
  keepsBody: false,
  // Only what was put back is news to those who send.
  topicOf: ({ outcomes }) =>
    outcomes.some(({ state, attempts }) => state === 'waiting' && attempts === 0) ? 'deliveries/again' : 'deliveries/settled',
  secrecyOf: neverSealed,
  encode: ({ hook, outcomes, resumes }) => [
    hook,
    outcomes.map(({ lsn, state, attempts, dueAt, httpStatus, error }): OutcomeFields => [
      lsn,
      DELIVERY_STATES.indexOf(state),
      attempts,
      dueAt,
      httpStatus,
      error,
    ]),
    resumes,
  ],
  decode,
  check: ({ hook, outcomes }, checks) => {
    checks.holds(/^[0-9a-f]{16}$/.test(hook), 'hook')
    for (const { lsn, attempts } of outcomes) {
      checks.lsn('lsn', lsn)
      checks.whole('attempts', attempts)
    }
  },
  apply: ({ environment }, { hook, outcomes, resumes }) => {
    if (resumes) resumeHook(environment, hook)
    for (const outcome of outcomes) settleDelivery(environment, hook, outcome)
  },
}
