/** Changes of a collection's settings, as the lane that has checked them passes them to the write lane. */
import type { Command } from '../../domain/commands.js'
import type { SettingsChange } from '../../domain/settings/settings_commands.js'
import { sealedCollection } from '../../domain/writes/write_rules.js'
import type { LaneContext } from './handler.js'

export function settingsCommand({ store }: LaneContext, collection: string, change: SettingsChange): Command {
  const sealedIn = store.read((view) => sealedCollection(view, collection))
  return { kind: 'settings', collection, sealedIn, change }
}
