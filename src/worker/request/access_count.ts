/**
 * Counts reads of tracked documents; background/access_tracking.ts stores the counts. Read lanes and the
 * point lane.
 */
import { trackingOf } from '../../domain/temporal/temporal_requests.js'
import type { View } from '../../store/view.js'
import { ACCESS } from '../../telemetry/access_rings.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { LaneContext } from './handler.js'

/** Called on the lane that answers a read of this document. */
export function countAccess(
  { accesses, settings }: LaneContext,
  view: View,
  document: { readonly collection: number; readonly docid: number },
): void {
  if (accesses === undefined) return
  const { tracked, hot } = trackingOf(settings.of(view, document.collection).config)
  const flags = (tracked ? ACCESS.tracked : 0) | (hot ? ACCESS.hot : 0)
  if (flags !== 0 && !accesses.record(document.collection, document.docid, view.now, flags)) threadTelemetry().add('accesses_uncounted', 1)
}
