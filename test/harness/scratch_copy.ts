/**
 * A copy of the installation with programs bundled from changed sources, for tests of the extension points.
 */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectFolder } from '../../src/base/installation.js'

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
  readonly folder: string
  /** The program that starts a server. */
  readonly main: string
  remove(): void
}

/**
 * @param generates whether the generated files are made anew, from the changed sources
 * @throws Error if an edit does not fit
 */
export async function scratchCopy(edits: readonly (Edit | Addition)[], generates = false): Promise<ScratchCopy> {
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
  if (generates) {
    const { generatedFiles } = (await import(pathToFileURL(join(root, 'scripts', 'generate', 'all.mjs')).href)) as {
      generatedFiles: (changed: ReadonlyMap<string, string>) => Promise<Readonly<Record<string, string | Uint8Array>>>
    }
    for (const [file, content] of Object.entries(await generatedFiles(changed))) {
      if (typeof content === 'string' && file.endsWith('.ts')) changed.set(file, content)
      else place(folder, file, content)
    }
  }
  const bundler = (await import(pathToFileURL(join(root, 'scripts', 'lib', 'bundle.mjs')).href)) as {
    bundle(root: string, folder: string, changed: ReadonlyMap<string, string>): Promise<void>
  }
  await bundler.bundle(root, folder, changed)
  return { folder, main: join(folder, 'dist', 'bin', 'main.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Writes a file of the copy: folders on its way become folders of the copy, with links to what they have. */
function place(folder: string, file: string, content: string | Uint8Array): void {
  let at = folder
  for (const part of dirname(file).split('/')) {
    at = join(at, part)
    if (!lstatSync(at).isSymbolicLink()) continue
    const original = readdirSync(at).map((name) => [name, join(realpathSync(at), name)] as const)
    rmSync(at)
    mkdirSync(at)
    for (const [name, path] of original) symlinkSync(path, join(at, name))
  }
  rmSync(join(folder, file), { force: true })
  writeFileSync(join(folder, file), content)
}
