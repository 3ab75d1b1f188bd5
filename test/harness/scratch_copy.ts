/**
 * A copy of the installation with programs bundled from changed sources, for tests of the extension points.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectFolder } from '../../src/installation.js'

/** @param text must contain `find` exactly once */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** A file that the sources do not have. */
export interface Addition {
  readonly file: string
  readonly text: string
}

export interface ScratchCopy {
  /** The program that starts a server. */
  readonly main: string
  remove(): void
}

/** @throws Error if an edit does not fit */
export async function scratchCopy(edits: readonly (Edit | Addition)[]): Promise<ScratchCopy> {
  const root = projectFolder()
  const folder = mkdtempSync(join(tmpdir(), 'mds-scratch-'))
  for (const name of readdirSync(root)) if (name !== 'dist' && name !== '.git') symlinkSync(join(root, name), join(folder, name))
  const changed = new Map<string, string>()
  for (const edit of edits) {
    if ('text' in edit) {
      changed.set(edit.file, edit.text)
      continue
    }
    const { file, find, replace } = edit
    const text = changed.get(file) ?? readFileSync(join(root, file), 'utf8')
    if (text.split(find).length !== 2) throw new Error(`${file} has ${JSON.stringify(find)} ${text.split(find).length - 1} times`)
    changed.set(
      file,
      text.replace(find, () => replace),
    )
  }
  const bundler = (await import(pathToFileURL(join(root, 'scripts', 'lib', 'bundle.mjs')).href)) as {
    bundle(root: string, folder: string, changed: ReadonlyMap<string, string>): Promise<void>
  }
  await bundler.bundle(root, folder, changed)
  return { main: join(folder, 'dist', 'bin', 'main.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
