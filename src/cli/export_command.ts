/** `mds export`: a collection as a git repository in which each revision is a commit, or as the stream that `git fast-import` makes one of. Exit code 1 when it did not come to its end. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { GIT_EXPORT_WRITTEN_BYTES } from '../limits.js'
import { gitStream, type ExportedHistory } from './git_stream.js'

export interface ExportOptions {
  readonly url: string
  readonly collection: string
  /** A folder that is empty or not there; `-`: the stream goes to stdout. */
  readonly git: string
}

/** What stands in the way of the export, in one line. */
class ExportStopped extends Error {}

export async function exportCollection({ url, collection, git }: ExportOptions): Promise<void> {
  try {
    const stream = gitStream(url, collection)
    const { documents, commits } = git === '-' ? await pour(stream, process.stdout) : await intoRepository(stream, git)
    process.stderr.write(`${documents} documents, ${commits} commits\n`)
  } catch (error) {
    if (!(error instanceof ExportStopped)) throw error
    process.stderr.write(`mds export: ${error.message}\n`)
    process.exitCode = 1
  }
}

async function intoRepository(stream: AsyncGenerator<string | Buffer, ExportedHistory>, folder: string): Promise<ExportedHistory> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) throw new ExportStopped(`${folder} is not empty`)
  await git(folder, ['init', '--quiet'])
  await git(folder, ['symbolic-ref', 'HEAD', 'refs/heads/main'])
  // Files are the documents' bytes, whatever the machine's own settings say.
  await git(folder, ['config', 'core.autocrlf', 'false'])
  const importer = start(folder, ['fast-import', '--quiet', '--done'])
  const ended = endOf(importer, 'fast-import')
  const history = await Promise.all([pour(stream, importer.stdin as NodeJS.WritableStream), ended]).then(
    ([poured]) => poured,
    async (error: unknown) => {
      // Without the word `done` at its end nothing of the stream counts.
      importer.stdin?.destroy()
      await ended.catch(() => undefined)
      throw error
    },
  )
  if (history.commits > 0) await git(folder, ['reset', '--quiet', '--hard'])
  return history
}

/** Writes the pieces as they are taken, small ones together: a write each would cost as much as the requests. */
async function pour(stream: AsyncGenerator<string | Buffer, ExportedHistory>, target: NodeJS.WritableStream): Promise<ExportedHistory> {
  // A pipe that breaks is told by the end of the process behind it.
  const broken = new Promise<never>((_, reject) =>
    target.once('error', () => reject(new ExportStopped('the stream was not taken to its end'))),
  )
  broken.catch(() => undefined)
  let parts: Buffer[] = []
  let held = 0
  const flush = async (): Promise<void> => {
    const bytes = Buffer.concat(parts, held)
    parts = []
    held = 0
    if (bytes.length > 0 && !target.write(bytes)) await Promise.race([once(target, 'drain'), broken])
  }
  for (;;) {
    const { done, value } = await stream.next()
    if (done) {
      await flush()
      if (target !== process.stdout) target.end()
      return value
    }
    const part = typeof value === 'string' ? Buffer.from(value) : value
    parts.push(part)
    held += part.length
    if (held >= GIT_EXPORT_WRITTEN_BYTES) await flush()
  }
}

async function git(folder: string, args: readonly string[]): Promise<void> {
  await endOf(start(folder, args), args[0] ?? '')
}

function start(folder: string, args: readonly string[]): ChildProcess {
  // Variables by which a hook or a worktree would point git elsewhere.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(?!EXEC_PATH|SSH|TRACE)/.test(name)))
  return spawn('git', ['-C', folder, ...args], { env, stdio: ['pipe', 'ignore', 'inherit'] })
}

async function endOf(child: ChildProcess, what: string): Promise<void> {
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ExportStopped(error.code === 'ENOENT' ? 'git is not installed' : error.message)),
    )
    child.once('close', resolve)
  })
  if (code !== 0) throw new ExportStopped(`git ${what} ended with code ${code}`)
}
