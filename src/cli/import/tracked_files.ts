/**
 * `--git`: the files of a folder that its git checkout tracks, as `git ls-files` says. No file is read, no
 * hook or program of the checkout is run. Main thread of the CLI.
 */
import { execFile } from 'node:child_process'
import { SourceError } from '../files/document.js'

/** Bytes of the names of one checkout: some two million files. */
const LISTING_BYTES_MAX = 256 * 1024 * 1024
/** Those of a hook that runs the import: the folder says which checkout it is, not who calls. */
const VARIABLES = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_COMMON_DIR']

interface TrackedFiles {
  /** Relative to the folder, with `/`. */
  readonly files: ReadonlySet<string>
  /** Those that have such files below them. */
  readonly folders: ReadonlySet<string>
}

/** @throws SourceError without git, or if the folder is in no checkout */
export async function trackedFiles(folder: string): Promise<TrackedFiles> {
  const files = new Set((await askGit(folder, ['ls-files', '-z'])).split('\0').filter((path) => path !== ''))
  const folders = new Set<string>()
  for (const path of files) {
    // A folder that is known has its parents, too.
    for (let at = path.lastIndexOf('/'); at > 0 && !folders.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at))
  }
  return { files, folders }
}

/** The directory that has the index of the checkout, absolute. @throws SourceError */
export async function gitFolderOf(folder: string): Promise<string> {
  return (await askGit(folder, ['rev-parse', '--absolute-git-dir'])).replace(/\n$/, '')
}

function askGit(folder: string, question: readonly string[]): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !VARIABLES.includes(name)))
  // A checkout may name a program that git would run to learn what has changed.
  const args = ['-C', folder, '-c', 'core.fsmonitor=false', ...question]
  return new Promise((resolve, reject) => {
    execFile('git', args, { env: { ...env, LC_ALL: 'C' }, maxBuffer: LISTING_BYTES_MAX }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new SourceError(reasonOf(error, folder, stderr)))
    })
  })
}

function reasonOf(error: Error & { readonly code?: unknown }, folder: string, stderr: string): string {
  if (error.code === 'ENOENT') return '--git needs git, which is not installed or not in PATH'
  if (stderr.includes('not a git repository')) return `--git: ${folder} is in no checkout of git`
  return `--git: ${stderr.split('\n')[0] || error.message}`
}
