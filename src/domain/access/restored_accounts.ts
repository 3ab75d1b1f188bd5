/**
 * What a restore changes in the accounts that it brings back: tokens that have ended since the backup stay
 * ended. The epoch of a user that is not the same in both states is raised above every epoch of both, and so
 * is that from which new users begin. Tokens of the other users stay valid. Pure; write lane.
 */
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import type { AccountWrite } from './access_changes.js'
import { DELETED_USERS, deletedEpoch, type User, userNamed } from './accounts.js'

/**
 * @param present the store that is served
 * @param restored the one that replaces it with its accounts
 * @returns rows to be written into the latter
 */
export function endedTokens(present: View, restored: View): readonly AccountWrite[] {
  const users = usersOf(restored)
  const epochs = [...usersOf(present), ...users].map(([, { tokenEpoch }]) => tokenEpoch)
  const highest = epochs.reduce((one, other) => Math.max(one, other), Math.max(deletedEpoch(present), deletedEpoch(restored)))
  const changed = users.filter(([username, { tokenEpoch }]) => userNamed(present, username)?.tokenEpoch !== tokenEpoch)
  return [
    { setting: 'token-epoch', id: DELETED_USERS, value: highest },
    ...changed.map(([id, user]) => ({ setting: 'user' as const, id, value: { ...user, tokenEpoch: highest + 1 } })),
  ]
}

function usersOf(view: View): readonly (readonly [username: string, user: User])[] {
  return view.settings(SERVER_SETTINGS, 'user') as readonly (readonly [string, User])[]
}
