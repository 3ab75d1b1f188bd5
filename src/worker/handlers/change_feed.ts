/**
 * The lanes' part of the change feed: it checks what a client asks for, and reads pages of events. The front
 * end has the clients (src/background/feed).
 */
import { collectionOfIngest } from '../../domain/bulk_ingest.js'
import { parseEvents, parsePosition, presentPosition } from '../../domain/feed/feed_events.js'
import { feedPage } from '../../domain/feed/feed_page.js'
import type { FeedAsked } from '../../domain/feed/feed_types.js'
import { badRequest, serviceError } from '../../errors.js'
import { changePage, watchChanges } from '../../operations/documents/change_feed.js'
import { ALL_COLLECTIONS } from '../../operations/row/collection_access.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, io, type LaneContext, read, type RequestContext } from '../request/handler.js'

function watch(lane: LaneContext, input: InputOf<typeof watchChanges>, { access }: RequestContext): FeedAsked {
  const { collection = '', events = '', key = '', job = '', include = '', since = '' } = input
  if (include !== '' && include !== 'document') throw badRequest('invalid include')
  return lane.store.read((view) => {
    if (job !== '') requireReadable(view, job, access)
    return {
      collection: lowerCase(collection),
      events: parseEvents(events),
      key: lowerCase(key),
      job,
      withDocuments: include === 'document',
      since: since === '' ? null : parsePosition(since),
      present: presentPosition(view),
    }
  })
}

/** Only a caller that may read all collections learns whether a job exists. @throws ServiceError 403, 404 */
function requireReadable(view: View, job: string, access: RequestContext['access']): void {
  const collection = collectionOfIngest(view, job)
  if (!access.mayRead(collection ?? ALL_COLLECTIONS)) throw serviceError('forbidden')
  if (collection === undefined) throw serviceError('notFound')
}

function page(lane: LaneContext, { lsn, epoch, withDocuments }: InputOf<typeof changePage>): Answer {
  return { body: JSON.stringify(lane.store.read((view) => feedPage(view, { lsn, epoch }, withDocuments))) }
}

export const changeFeedHandlers: readonly BoundHandler[] = [io(watchChanges, watch), read(changePage, page)]
