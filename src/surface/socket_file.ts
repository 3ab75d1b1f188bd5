/** The file of a unix socket that the server listens on. */
import { chmodSync, lstatSync, rmSync } from 'node:fs'

export class SocketFile {
  readonly #inode: string

  /** For its owner only from now on. */
  constructor(readonly path: string) {
    chmodSync(path, 0o600)
    this.#inode = inodeOf(path)
  }

  /**
   * Removes the file, unless another one has taken its place. Must be called before the socket is closed:
   * until then no other file can have its number.
   */
  remove(): void {
    if (inodeOf(this.path) === this.#inode) rmSync(this.path, { force: true })
  }
}

function inodeOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? '' : `${found.dev}:${found.ino}`
}
