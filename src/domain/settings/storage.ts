/**
 * Where a collection's bodies are stored, according to its configuration: in the env (`boltdb`, the default),
 * in process memory, or at a location in an object store. Locations are settings of the server, so that
 * objects can be found even if the collection's configuration changes. Collections that name the same
 * location share one. Rules: service-2, "Storage backends"; docs/decisions/store/storage-backends.md.
 */
import { badRequest } from '../../errors.js'
import { LOCATIONS_MAX } from '../../limits/store.js'
import type { S3Location } from '../../outbound/s3_location.js'
import { MEMORY_LOCATION } from '../../store/objects.js'
import { CorruptRecord } from '../../store/rows/record.js'
import { CLEAR } from '../../store/sealing/collection_seal.js'
import type { View } from '../../store/view.js'
import { type CollectionConfig, type ConfigChange, locationOf, mergeConfig } from './collection_config.js'
import type { SettingsCache } from './collection_settings.js'
import { readLocations } from './locations.js'

/**
 * Objects of a collection that are searched for the location of its bodies, when the credentials of a
 * location are lost.
 */
const LOCATION_OBJECTS_SCANNED_MAX = 1024

/** Where the new bodies of a collection become objects. Undefined: they are stored in the env. */
export interface Storage {
  readonly collection: number
  readonly location: number
}

/** Whether both name the same location and user. The secret may differ, because it may change. */
function isSame(one: S3Location, other: S3Location): boolean {
  const marks = ({ endpoint, bucket, region = '', accessKey, prefix = '', useTLS = false }: S3Location): string =>
    JSON.stringify([endpoint, bucket, region, accessKey, prefix, useTLS])
  return marks(one) === marks(other)
}

export function storageOfCollection(settings: SettingsCache, view: View, collection: number): Storage | undefined {
  const { config } = settings.of(view, collection)
  if (config.storageBackend === 'memory') return { collection, location: MEMORY_LOCATION }
  const wanted = locationNamed(config)
  if (wanted === undefined) return undefined
  const found = [...settings.locations(view)].find(([, location]) => isSame(location, wanted))
  return found === undefined ? undefined : { collection, location: found[0] }
}

/**
 * The stored configuration. Undefined if its credentials cannot be decrypted and the change contains new
 * ones: it is replaced then.
 * @throws CorruptRecord
 */
export function configBefore(view: View, collection: number, change: ConfigChange): CollectionConfig | undefined {
  try {
    return view.setting(collection, 'config') as CollectionConfig | undefined
  } catch (error) {
    const { storageConfig, cms } = mergeConfig({}, change)
    const bringsSome = (storageConfig?.secretKey ?? '') !== '' || (cms?.apiKey ?? '') !== ''
    // The configuration of a sealed collection is encrypted under the collection's own seal. There the
    // failure is damage, and losing the configuration would unseal the collection.
    if (error instanceof CorruptRecord && bringsSome && view.objects.writtenForm(collection) === CLEAR) return undefined
    throw error
  }
}

/**
 * The location that a change of a configuration would move bodies to. Undefined if it stays the same. A new
 * location is probed before the change is accepted.
 * @throws ServiceError 400
 */
export function newLocation(stored: CollectionConfig | undefined, change: ConfigChange): S3Location | undefined {
  const config = mergeConfig(stored ?? {}, change)
  const wanted = locationNamed(config)
  const present = locationNamed(stored ?? {})
  const isKnown = wanted !== undefined && present !== undefined && isSame(wanted, present) && wanted.secretKey === present.secretKey
  return isKnown ? undefined : wanted
}

function locationNamed({ storageBackend, storageConfig }: CollectionConfig): S3Location | undefined {
  return storageBackend === 's3' && storageConfig !== undefined ? locationOf(storageConfig) : undefined
}

/**
 * The location to write before the configuration that names it. Undefined if it is already known. The secret
 * of a known location is the one that was set last: a change of another field does not restore an older one.
 * @param isChanged whether the change names the location or its secret
 * @throws ServiceError 400
 */
export function locationChange(
  view: View,
  collection: number | undefined,
  config: CollectionConfig,
  isChanged: boolean,
): { readonly id: string; readonly location: S3Location } | undefined {
  const wanted = locationNamed(config)
  if (wanted === undefined) return undefined
  const unreadable: string[] = []
  const known = readLocations(view, unreadable)
  const [id, location] = [...known].find(([, each]) => isSame(each, wanted)) ?? []
  if (location !== undefined && (!isChanged || location.secretKey === wanted.secretKey)) return undefined
  const replaced = id ?? (collection === undefined ? undefined : lostLocation(view, collection, unreadable))
  const ids = [...known.keys(), ...unreadable.map(Number)]
  if (replaced === undefined && ids.length >= LOCATIONS_MAX)
    throw badRequest(`too many locations in object stores: at most ${LOCATIONS_MAX}`)
  return { id: String(replaced ?? Math.max(MEMORY_LOCATION, ...ids) + 1), location: wanted }
}

/**
 * A location whose credentials cannot be decrypted cannot be compared. It is assumed to be the one that
 * contains the collection's bodies. Undefined unless exactly one qualifies.
 */
function lostLocation(view: View, collection: number, unreadable: readonly string[]): number | undefined {
  if (unreadable.length === 0) return undefined
  const used = view.objects.locationsOf(collection, LOCATION_OBJECTS_SCANNED_MAX)
  const lost = unreadable.map(Number).filter((id) => used.has(id))
  return lost.length === 1 ? lost[0] : undefined
}
