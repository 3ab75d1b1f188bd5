/**
 * `mds export`: writes a collection as a git repository in which each revision is a commit, or as the stream
 * from which `git fast-import` creates one. Exit code 1 if the export did not complete.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { makeFolders } from '../../base/folders.js'
import { KIB } from '../../limits/units.js'
import { request } from '../client.js'
import { sayError } from '../terminal.js'
import { type ExportedHistory, gitStream } from './git_stream.js'

/** Bytes of the stream that are written at once. */
const GIT_EXPORT_WRITTEN_BYTES = 256 * KIB
/** Bytes of git's error output that are kept: the first lines contain the reason of a failure. */
const GIT_EXPORT_SAID_BYTES_MAX = 16 * KIB

export interface ExportOptions {
  readonly url: string
  readonly collection: string
  /** A folder that is empty or does not exist. `-`: the stream goes to stdout. */
  readonly git: string
}

/** The reason why the export cannot continue, in one line. */
class ExportStopped extends Error {}

/** The reader of the stream has stopped. If the reader is a process, its exit gives the reason. */
class StreamBroken extends ExportStopped {}

export async function exportCollection({ url, collection, git }: ExportOptions): Promise<void> {
  try {
    await refuseUnknown(url, collection)
    const stream = gitStream(url, collection)
    const { documents, commits } = git === '-' ? await pour(stream, process.stdout) : await intoRepository(stream, git)
    sayError(`${documents} documents, ${commits} commits\n`)
  } catch (error) {
    if (!(error instanceof ExportStopped)) throw error
    sayError(`mds export: ${error.message}\n`)
    process.exitCode = 1
  }
}

/**
 * Asked before anything is created in the folder. A misspelt name must not look like a successful backup.
 */
async function refuseUnknown(url: string, collection: string): Promise<void> {
  const { collections = [] } = (await request(url, 'GET', '/v1/stats')) as { readonly collections?: readonly { readonly name: string }[] }
  if (!collections.some(({ name }) => name === collection)) throw new ExportStopped(`there is no collection ${JSON.stringify(collection)}`)
}

async function intoRepository(stream: AsyncGenerator<string | Buffer, ExportedHistory>, folder: string): Promise<ExportedHistory> {
  if ((await entriesOf(folder)).length > 0) throw new ExportStopped(`${folder} is not empty`)
  await git(folder, ['init', '--quiet'])
  await git(folder, ['symbolic-ref', 'HEAD', 'refs/heads/main'])
  // Files contain the exact bytes of the documents, whatever the machine's git settings are.
  await git(folder, ['config', 'core.autocrlf', 'false'])
  const importer = start(folder, ['fast-import', '--quiet', '--done'])
  const ended = endOf(importer, 'fast-import')
  const history = await Promise.all([pour(stream, importer.stdin as NodeJS.WritableStream), ended]).then(
    ([poured]) => poured,
    async (error: unknown) => {
      // Without the final `done`, git discards the whole stream.
      importer.stdin?.destroy()
      const reason: unknown = await ended.catch((ending: unknown) => ending)
      throw error instanceof StreamBroken ? (reason ?? error) : error
    },
  )
  if (history.commits > 0) await git(folder, ['reset', '--quiet', '--hard'])
  return history
}

/**
 * Lists the entries of a folder. Creates the folder if it does not exist.
 * @throws ExportStopped
 */
async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    makeFolders(folder)
    return await readdir(folder)
  } catch (error) {
    throw new ExportStopped(`cannot use ${folder} (${error instanceof Error ? error.message : String(error)})`)
  }
}

/**
 * Writes the stream to the target. Small pieces are combined, because one write per piece would cost as much
 * as the requests.
 */
async function pour(stream: AsyncGenerator<string | Buffer, ExportedHistory>, target: NodeJS.WritableStream): Promise<ExportedHistory> {
  const brokenBy = (error: Error): StreamBroken => new StreamBroken(`the stream was not taken to its end (${error.message})`)
  const broken = new Promise<never>((_, reject) => target.on('error', (error: Error) => reject(brokenBy(error))))
  broken.catch(() => undefined)
  let parts: Buffer[] = []
  let buffered = 0
  const flush = async (): Promise<void> => {
    const bytes = Buffer.concat(parts, buffered)
    parts = []
    buffered = 0
    if (bytes.length > 0 && !target.write(bytes)) await Promise.race([once(target, 'drain'), broken])
  }
  for (;;) {
    const { done, value } = await stream.next()
    if (done) {
      await flush()
      // For stdout, only the callback of the last write confirms that all data was written. For a pipe, the
      // exit of its process does.
      if (target !== process.stdout) target.end()
      else await new Promise<void>((resolve, reject) => target.write('', (error) => (error ? reject(brokenBy(error)) : resolve())))
      return value
    }
    const part = typeof value === 'string' ? Buffer.from(value) : value
    parts.push(part)
    buffered += part.length
    if (buffered >= GIT_EXPORT_WRITTEN_BYTES) await flush()
  }
}

async function git(folder: string, args: readonly string[]): Promise<void> {
  await endOf(start(folder, args), args[0] as string)
}

function start(folder: string, args: readonly string[]): ChildProcess {
  // Removes the variables by which a hook or a worktree would redirect git.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(?!EXEC_PATH|SSH|TRACE)/.test(name)))
  return spawn('git', ['-C', folder, ...args], { env, stdio: ['pipe', 'ignore', 'pipe'] })
}

async function endOf(child: ChildProcess, what: string): Promise<void> {
  let said = Buffer.alloc(0)
  child.stderr?.on('data', (bytes: Buffer) => (said = Buffer.concat([said, bytes]).subarray(0, GIT_EXPORT_SAID_BYTES_MAX)))
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ExportStopped(error.code === 'ENOENT' ? 'git is not installed' : error.message)),
    )
    child.once('close', (...ending) => resolve(ending))
  })
  if (code === 0) sayError(said.toString('utf8'))
  else throw new ExportStopped(`git ${what} ended with ${code === null ? signal : `code ${code}`}${reasonIn(said.toString('utf8'))}`)
}

/** Git's own error message as a suffix for the line, or an empty string. */
function reasonIn(said: string): string {
  const line = /^(?:fatal|error): .+/m.exec(said)?.[0] ?? /^.+/.exec(said)?.[0]
  return line === undefined ? '' : ` (${line})`
}
