/**
 * Revisions: every state that a document has had and that was kept, newest first; the newest is the present one.
 */
import { findDocument, prepareRestore, revisionsOf } from '../../domain/changes.js'
import { encodeCommand } from '../../domain/commands.js'
import { metadataDiff } from '../../domain/diff/metadata_diff.js'
import { unifiedDiff } from '../../domain/diff/unified_diff.js'
import { stateBefore, stateOfRevision } from '../../domain/past_states.js'
import { badRequest, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits.js'
import type { InputOf } from '../../operations/operation.js'
import type {
  restoreRevision as restoreRow,
  revisionDiff as diffRow,
  revisions as revisionsRow,
  truncate as truncateRow,
} from '../../operations/revisions.js'
import { unescapeContent } from '../../store/body.js'
import { textOfHead, type Head } from '../../store/head.js'
import type { Answer, Handler, LaneContext, RequestContext, StoreFirst } from '../handler.js'
import { commandOf } from '../storage.js'

function list(lane: LaneContext, input: InputOf<typeof revisionsRow>, request: RequestContext): Answer {
  const { collection, key, lang } = input
  return lane.store.read((view) => {
    const head = findDocument(view, collection, key, lang)
    const states = revisionsOf(view, head)
    const bytes = states.reduce((sum, state) => sum + state.bodyRawBytes + state.meta.length + 128, 0)
    if (bytes > ANSWER_BYTES_MAX) throw badRequest(`answer too large: ${states.length} revisions of together ${bytes} bytes`)
    const out = lane.out.begin()
    out.utf8(`{"collection":${JSON.stringify(collection)},"key":${JSON.stringify(key)},"lang":${JSON.stringify(lang)},"revisions":[`)
    states.forEach((state, index) => {
      if (request.shouldStop()) throw serviceError('deadline')
      out.ascii(
        `${index === 0 ? '' : ','}{"timestamp":${state.updatedAt},"updatedAt":${state.updatedAt},"revision":${state.revision},"meta":`,
      )
      out.bytes(state.meta)
      out.ascii(',"contentMd":"')
      view.writeContent(state, out)
      out.ascii('"}')
    })
    out.ascii(`],"total":${states.length}}`)
    return { status: 200, body: out.view() }
  })
}

function restore(lane: LaneContext, input: InputOf<typeof restoreRow>): Uint8Array | StoreFirst {
  const { collection, key, lang } = input
  const wanted = { timestamp: input.timestamp, revision: input.revision ?? null }
  const prepared = lane.store.read((view) => prepareRestore(lane, view, findDocument(view, collection, key, lang), wanted))
  return commandOf(lane, { kind: 'restore', collection, key, lang, wanted, ...prepared })
}

function diff(lane: LaneContext, input: InputOf<typeof diffRow>): Answer {
  const { collection, key, lang } = input
  return lane.store.read((view) => {
    const head = findDocument(view, collection, key, lang)
    const to = input.to === undefined ? head : stateOfRevision(view, head, input.to)
    const from = input.from === undefined ? stateBefore(view, to) : stateOfRevision(view, head, input.from)
    const contentOf = (state: Head): string => unescapeContent(view.escapedContent(state))
    const { text, ...counts } = unifiedDiff(`revision ${from.revision}`, contentOf(from), `revision ${to.revision}`, contentOf(to))
    const meta = metadataDiff(textOfHead(from).metaValues, textOfHead(to).metaValues)
    const body = { collection, key, lang, from: nameOf(from), to: nameOf(to), diff: text, ...counts, meta }
    return { status: 200, body: JSON.stringify(body) }
  })
}

function nameOf({ revision, updatedAt }: Head): { readonly revision: number; readonly timestamp: number } {
  return { revision, timestamp: updatedAt }
}

function truncate(_lane: LaneContext, { collection, keepRevs }: InputOf<typeof truncateRow>): Uint8Array {
  return encodeCommand({ kind: 'truncate', collection, keep: keepRevs })
}

export const revisionHandlers: readonly (readonly [string, Handler])[] = [
  ['revisions', { kind: 'read', run: list }],
  ['restoreRevision', { kind: 'prepare', run: restore }],
  ['revisionDiff', { kind: 'read', run: diff }],
  ['truncate', { kind: 'prepare', run: truncate }],
]
