/**
 * What a collection requires of a write: its schema, and the stamp of the settings under which the metadata
 * was validated. The stamp travels with the prepared document. If the collection's stamp has changed before
 * the commit, the write lane validates again, inside the transaction. So nothing that a schema rejects is
 * written after the setting of that schema was acknowledged.
 */
import { badRequest, serviceError } from '../../errors.js'
import { CLEAR } from '../../store/sealing/collection_seal.js'
import type { View } from '../../store/view.js'
import type { Metadata } from '../documents/metadata.js'
import type { CollectionSchema } from '../schemas/collection_schema.js'
import { schemaErrors } from '../schemas/metadata_check.js'
import type { CollectionSettings, SettingsCache } from '../settings/collection_settings.js'

export interface WriteRules {
  /**
   * LSN of the last change to the collection's settings. 0: it has none, or the collection does not exist.
   */
  readonly settingsLsn: bigint
  readonly schema: CollectionSchema | undefined
  /** Id of the collection if it is sealed. 0 or absent: it is not. */
  readonly sealedIn?: number
}

/** Of a collection that does not exist. */
export const NO_RULES: WriteRules = { settingsLsn: 0n, schema: undefined, sealedIn: 0 }

export function writeRulesOfCollection(settings: SettingsCache, view: View, collection: number): WriteRules {
  return rulesOfSettings(view, collection, settings.of(view, collection))
}

/** @param settings those of the collection that the view shows */
export function rulesOfSettings(view: View, collection: number, { lsn, schema }: CollectionSettings): WriteRules {
  return { settingsLsn: lsn, schema, sealedIn: isSealed(view, collection) ? collection : 0 }
}

function isSealed(view: View, collection: number): boolean {
  return view.objects.writtenForm(collection) !== CLEAR
}

/** Id of the collection if it is sealed; else 0. */
export function sealedCollection(view: View, collectionName: string): number {
  const id = view.collection(collectionName)?.id
  return id !== undefined && isSealed(view, id) ? id : 0
}

/**
 * On the write lane: what was prepared for a sealed collection is written to no other one of its name, which
 * would store it as plaintext. The sealed one may have been deleted meanwhile.
 * @throws ServiceError 503; the client's next request is for the present collection
 */
export function requireSealedStill(view: View, collectionName: string, sealedIn = 0): void {
  if (sealedIn !== 0 && view.collection(collectionName)?.id !== sealedIn) throw serviceError('collectionChanged')
}

/** @throws ServiceError 400 that lists all violations */
export function requireSchema({ schema }: WriteRules, values: Metadata['values']): void {
  const errors = schema === undefined ? [] : schemaErrors(schema, values)
  if (errors.length > 0) throw badRequest(`schema validation failed: ${errors.join('; ')}`)
}

/**
 * On the write lane: validates again if the settings have changed since the document was prepared.
 * @param meta its metadata as JSON
 * @throws ServiceError 400
 */
export function requireSchemaStill(
  settings: SettingsCache,
  view: View,
  collectionName: string,
  { meta, settingsLsn }: { readonly meta: string; readonly settingsLsn: bigint },
): void {
  const collection = view.collection(collectionName)
  if (collection === undefined || view.settingsLsn(collection.id) === settingsLsn) return
  const rules = writeRulesOfCollection(settings, view, collection.id)
  if (rules.schema === undefined) return
  requireSchema(rules, Object.entries(JSON.parse(meta) as Record<string, readonly string[]>))
}
