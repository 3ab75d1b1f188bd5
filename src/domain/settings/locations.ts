/**
 * The locations in object stores that the server knows, read from its settings. Each has a number, which the
 * rows of bodies refer to, so that objects can be found even if the configuration that first named the
 * location changes.
 */
import type { S3Location } from '../../outbound/s3_location.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'

export type Locations = ReadonlyMap<number, S3Location>

/**
 * @param unreadable receives the ids of locations whose credentials cannot be decrypted; they are left out
 */
export function readLocations(view: View, unreadable: string[] = []): Locations {
  return new Map(view.settings(SERVER_SETTINGS, 'location', unreadable).map(([id, value]) => [Number(id), value as S3Location]))
}
