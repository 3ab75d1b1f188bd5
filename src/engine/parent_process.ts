/** The end of a process with the one that has started it (native/binding/system/parent_process.h). */
import { loadAddon } from './addon.js'

interface Addon {
  endWithParent(parent: number): void
}

/**
 * Has the system end this process when its parent ends, on Linux at once, whatever it does. An event of the
 * connection to the parent is seen only between two steps.
 * @param parent the process that has started this one
 */
export function endWithParent(parent: number): void {
  loadAddon<Addon>(['endWithParent']).endWithParent(parent)
}
