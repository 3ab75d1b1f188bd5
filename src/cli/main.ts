/**
 * The command line `mds`: a client of the server's HTTP interface, and `serve`, which runs the server. Data
 * goes to stdout, everything else to stderr. Exit code 0 on success, 1 otherwise. `doctor` exits with 1 for
 * damage, and with 2 if it cannot read the store.
 */
import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import pc from 'picocolors'
import { programPath } from '../base/installation.js'
import { printableLines } from '../base/printable.js'
import { versionText } from '../base/version.js'
import { LIMIT_MAX } from '../limits/search.js'
import { addAccessCommands } from './access/access_commands.js'
import { verifyAudit } from './audit_command.js'
import { useCertificates } from './certificates.js'
import { AnswerError, ConnectionError, request } from './client.js'
import { DEFAULT_URL, print, wholeNumber, withUrl } from './command_options.js'
import { doctor } from './doctor.js'
import { addDocument, type AddOptions, deleteDocument } from './document_commands.js'
import { exportCollection, type ExportOptions } from './export/export_command.js'
import { importPath } from './import/import_command.js'
import { addImport } from './import/import_options.js'
import { stateFolder } from './import/resume_state.js'
import { formatHits, formatStats, formatStored } from './output.js'
import { backup, type BackupOptions, restore, vectorReindex } from './server_commands.js'
import { CommandError, say } from './terminal.js'

/** Colours only on a terminal: the library would also colour a file if the environment says CI. */
const colors = pc.createColors(process.stderr.isTTY === true && !process.env.NO_COLOR)

export async function runCli(argv: readonly string[]): Promise<void> {
  // The server has its own flags and its own help.
  if (argv[0] === 'serve') return await serve(argv.slice(1))
  try {
    await buildProgram().parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof AnswerError || error instanceof ConnectionError || error instanceof CommandError)) throw error
    process.stderr.write(`${colors.red('mds:')} ${printableLines(error.message)}\n`)
    process.exitCode = 1
  }
}

async function serve(flags: readonly string[]): Promise<void> {
  const main = programPath('main')
  process.argv = [process.argv[0] ?? process.execPath, main, ...flags]
  await import(pathToFileURL(main).href)
}

function buildProgram(): Command {
  const program = new Command('mds')
    .description('Markdown Document Service: a versioned database of markdown documents with search')
    .version(versionText())
    .showHelpAfterError()
    .hook('preAction', (_program, command) => useCertificates(command.opts()))
    .addHelpText('after', '\nThe address of the server is --url, else MDS_URL, else ' + DEFAULT_URL + '.')
  program.command('serve').description('run the server; takes the options of `npm start` (mds serve --help)')
  addImport(program, (path, options) => importPath(path, { ...options, stateFolder: stateFolder(process.env) }))
  addExport(program)
  addSearch(program)
  addGet(program)
  addAdd(program)
  addDelete(program)
  addBackup(program)
  addRestore(program)
  addVectorReindex(program)
  addStats(program)
  addDoctor(program)
  addAudit(program)
  addAccessCommands(program)
  return program
}

function addExport(program: Command): void {
  withUrl(program.command('export'))
    .description('export a collection as a git repository in which each revision is a commit')
    .requiredOption('-c, --collection <name>', 'collection to export')
    .requiredOption('--git <folder>', 'an empty or a new folder; - writes the stream for git fast-import to stdout')
    .action((options: ExportOptions) => exportCollection(options))
}

function addSearch(program: Command): void {
  withUrl(program.command('search'))
    .description('full-text search')
    .argument('<collection>')
    .argument('<query>')
    .option('-m, --mode <mode>', 'auto, simple, boolean or phrase', 'auto')
    .option('-n, --limit <n>', 'results at most', wholeNumber(1, LIMIT_MAX), 10)
    .option('--json', "the server's answer as it is", false)
    .action(async (collection: string, query: string, options: { url: string; mode: string; limit: number; json: boolean }) => {
      const { url, mode, limit, json } = options
      print(await request(url, 'POST', '/v1/fts', { collection, query, mode, limit }), json, formatHits)
    })
}

function addGet(program: Command): void {
  withUrl(program.command('get'))
    .description('print one document as JSON, or its content')
    .argument('<collection>')
    .argument('<key>')
    .option('-l, --lang <code>', 'language', 'en')
    .option('--content', 'only the markdown, byte for byte', false)
    .action(async (collection: string, key: string, options: { url: string; lang: string; content: boolean }) => {
      const document = await request(options.url, 'POST', '/v1/get', { collection, key, lang: options.lang })
      const { contentMd } = document as { contentMd?: unknown }
      if (!options.content) print(document, true, String)
      else if (typeof contentMd === 'string') process.stdout.write(contentMd)
      else throw new AnswerError(200, 'the answer holds no contentMd')
    })
}

function addAdd(program: Command): void {
  withUrl(program.command('add'))
    .description('write one document, its content from a file or standard input')
    .argument('<collection>')
    .argument('<key>')
    .argument('[lang]', 'language', 'en')
    .option('-f, --file <path>', 'the content; - is standard input', '-')
    .option('-m, --meta <list>', 'metadata: k=v1|v2,k2=v')
    .option('--ttl <seconds>', 'it expires after so many seconds', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--json', "the server's answer as it is", false)
    .action(async (collection: string, key: string, lang: string, options: AddOptions & { json: boolean }) => {
      print(await addDocument(collection, key, lang, options), options.json, formatStored)
    })
}

function addDelete(program: Command): void {
  withUrl(program.command('delete'))
    .description('delete one document with its revisions')
    .argument('<collection>')
    .argument('<key>')
    .argument('[lang]', 'language', 'en')
    .action(async (collection: string, key: string, lang: string, { url }: { url: string }) => {
      print(await deleteDocument(collection, key, lang, url), false, () => 'deleted\n')
    })
}

function addBackup(program: Command): void {
  withUrl(program.command('backup'))
    .description('back the whole store up into the directory of backups of the server, or list and delete what is there')
    .argument('[name]', 'of the file; without one it is called by its time')
    .option('--list', 'list the backups', false)
    .option('--delete <name>', 'delete one')
    .option('--json', "the server's answer as it is", false)
    .action(async (name: string | undefined, options: BackupOptions) => say(await backup(name, options)))
}

function addRestore(program: Command): void {
  withUrl(program.command('restore'))
    .description('replace everything that the server has by what a backup holds')
    .argument('<name>', 'of the backup (mds backup --list)')
    .action(async (name: string, { url }: { url: string }) => say(await restore(name, url)))
}

function addVectorReindex(program: Command): void {
  withUrl(program.command('vector-reindex'))
    .description('embed the documents of a collection that lack current vectors')
    .argument('<collection>')
    .option('--force', 'embed unchanged documents, too', false)
    .option('--json', "the server's answer as it is", false)
    .action(async (collection: string, options: { url: string; force: boolean; json: boolean }) => {
      say(await vectorReindex(collection, options))
    })
}

function addStats(program: Command): void {
  withUrl(program.command('stats'))
    .description('collections, sizes and counts of a server')
    .option('--json', "the server's answer as it is", false)
    .action(async (options: { url: string; json: boolean }) => {
      print(await request(options.url, 'GET', '/v1/stats'), options.json, formatStats)
    })
}

function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('read a whole store that no server has open, and say what of it is damaged; nothing is changed')
    .requiredOption('--db <path>', 'the data directory')
    .addHelpText(
      'after',
      '\nExit code 0: nothing is damaged, 1: something is, 2: the store could not be read through. Keys are taken from SVC_ENCRYPTION_KEY, as by the server.',
    )
    .action(async ({ db }: { db: string }) => void (process.exitCode = await doctor(db)))
}

function addAudit(program: Command): void {
  const audit = program.command('audit').description('work with the files of an audit log')
  audit
    .command('verify')
    .description('check that no line of the log was removed, changed, reordered or cut off; nothing is changed')
    .argument('<dir>', 'directory of the log: audit/ in the data directory, or SVC_AUDIT_DIR')
    .option('--contains <batch:hash>', 'the end of the log as an earlier run has printed it: it must still be there')
    .addHelpText('after', '\nExit code 0: the chain is unbroken, 1: it is not, or the log cannot be read.')
    .action((folder: string, { contains }: { contains?: string }) => void (process.exitCode = verifyAudit(folder, contains)))
}
