/**
 * The dumps of imports that go on after their requests, in a folder of the data directory: one file a job, of
 * the name of its id. A file is on disk before its job's record is, and is removed once the job has ended;
 * what an end of the process leaves in between is removed by the next sweep. Front-end thread only.
 */
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

const KEPT_DUMPS_FOLDER = 'wiki-jobs'

export class KeptDumps {
  readonly #folder: string
  /** Those whose record may be on its way. */
  readonly #arriving = new Set<string>()

  /** @param path data directory */
  constructor(path: string) {
    this.#folder = join(resolve(path), KEPT_DUMPS_FOLDER)
  }

  pathOf(id: string): string {
    return join(this.#folder, id)
  }

  /** Takes the file over. Resolves when it is on disk. Until `settled` no sweep removes it. */
  async keep(id: string, path: string): Promise<void> {
    this.#arriving.add(id)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await flush(path)
    await rename(path, this.pathOf(id))
    await flush(this.#folder)
    await flush(dirname(this.#folder))
  }

  /** The record is on disk, or there will be none. */
  settled(id: string): void {
    this.#arriving.delete(id)
  }

  async has(id: string): Promise<boolean> {
    return (await this.#bytesOf(id)) !== undefined
  }

  /** Bytes of all files. */
  async bytes(): Promise<number> {
    const sizes = await Promise.all((await this.#names()).map((name) => this.#bytesOf(name)))
    return sizes.reduce<number>((sum, bytes = 0) => sum + bytes, 0)
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true })
  }

  /** Removes what belongs to no job. @param wanted ids of those that wait or run */
  async sweep(wanted: ReadonlySet<string>): Promise<void> {
    for (const name of await this.#names()) if (!wanted.has(name) && !this.#arriving.has(name)) await this.remove(name)
  }

  async #bytesOf(name: string): Promise<number | undefined> {
    return (await stat(this.pathOf(name)).catch(() => undefined))?.size
  }

  /** None where no job was ever submitted. */
  async #names(): Promise<readonly string[]> {
    return await readdir(this.#folder).catch(() => [])
  }
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
