/** Revisions: the states of a document that were kept, newest first. The newest is the present one. */
import type { Command } from '../../domain/commands.js'
import { metadataDiff } from '../../domain/diff/metadata_diff.js'
import { writeUnifiedDiff } from '../../domain/diff/unified_diff.js'
import { stateBefore, stateOfRevision } from '../../domain/documents/past_states.js'
import { findDocument, prepareRestore, revisionsOf } from '../../domain/writes/changes.js'
import { badRequest, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import { FTS_POLL_RESULTS } from '../../limits/search.js'
import {
  restoreRevision as restoreRow,
  revisionDiff as diffRow,
  revisions as revisionsRow,
  truncate as truncateRow,
} from '../../operations/documents/revisions.js'
import type { InputOf } from '../../operations/row/operation.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { Answer } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'
import { commandOf } from '../request/storage.js'

/** Bytes of a revision in the answer, beside its metadata and content. */
const REVISION_FRAME_BYTES = 128

function list(lane: LaneContext, input: InputOf<typeof revisionsRow>, request: RequestContext): Answer {
  const { collection, key, lang } = input
  return lane.store.read((view) => {
    const head = findDocument(view, collection, key, lang)
    let [total, bytes] = [0, 0]
    for (const state of revisionsOf(view, head)) {
      total += 1
      bytes += state.bodyRawBytes + state.meta.length + REVISION_FRAME_BYTES
      if (total % FTS_POLL_RESULTS === 0 && request.shouldStop()) throw serviceError('deadline')
    }
    if (bytes > ANSWER_BYTES_MAX) throw badRequest(`answer too large: ${total} revisions of together ${bytes} bytes`)
    const out = lane.out.begin().reserve(bytes)
    out.utf8(`{"collection":${JSON.stringify(collection)},"key":${JSON.stringify(key)},"lang":${JSON.stringify(lang)},"revisions":[`)
    let separator = ''
    for (const state of revisionsOf(view, head)) {
      if (request.shouldStop()) throw serviceError('deadline')
      out.ascii(`${separator}{"timestamp":${state.updatedAt},"updatedAt":${state.updatedAt},"revision":${state.revision},"meta":`)
      out.bytes(state.meta)
      out.ascii(',"contentMd":"')
      view.writeContent(state, out)
      out.ascii('"}')
      separator = ','
    }
    out.ascii(`],"total":${total}}`)
    return { body: out.view() }
  })
}

function restore(lane: LaneContext, input: InputOf<typeof restoreRow>): Command | StoreFirst {
  const { collection, key, lang } = input
  const wanted = { timestamp: input.timestamp, revision: input.revision ?? null }
  const prepared = lane.store.read((view) => prepareRestore(lane, view, findDocument(view, collection, key, lang), wanted))
  return commandOf(lane, { kind: 'restore', collection, key, lang, wanted, ...prepared })
}

function diff(lane: LaneContext, input: InputOf<typeof diffRow>, request: RequestContext): Answer {
  const { collection, key, lang } = input
  const poll = (): void => {
    if (request.shouldStop()) throw serviceError('deadline')
  }
  return lane.store.read((view) => {
    const head = findDocument(view, collection, key, lang)
    const to = input.to === undefined ? head : stateOfRevision(view, head, input.to)
    const from = input.from === undefined ? stateBefore(view, to) : stateOfRevision(view, head, input.from)
    const meta = metadataDiff(textOfHead(from).metaValues, textOfHead(to).metaValues)
    // A copy, because content is valid only until the next content is read.
    const a = Buffer.from(view.escapedContent(from))
    const b = view.escapedContent(to)
    const out = lane.out.begin()
    // Small JSON parts come first, without the closing brace, because the diff may be very large.
    out.utf8(`${JSON.stringify({ collection, key, lang, from: nameOf(from), to: nameOf(to) }).slice(0, -1)},"diff":"`)
    const counts = writeUnifiedDiff(out, `revision ${from.revision}`, a, `revision ${to.revision}`, b, poll)
    out.utf8(`",${JSON.stringify({ ...counts, meta }).slice(1)}`)
    return { body: out.view() }
  })
}

function nameOf({ revision, updatedAt }: Head): { readonly revision: number; readonly timestamp: number } {
  return { revision, timestamp: updatedAt }
}

function truncate(_lane: LaneContext, { collection, keepRevs }: InputOf<typeof truncateRow>): Command {
  return { kind: 'truncate', collection, keep: keepRevs }
}

export const revisionHandlers: readonly BoundHandler[] = [
  read(revisionsRow, list),
  prepare(restoreRow, restore),
  read(diffRow, diff),
  prepare(truncateRow, truncate),
]
