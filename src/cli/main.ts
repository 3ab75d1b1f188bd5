/**
 * The command line `mds`: a client of the server's HTTP interface, and `serve`, which is the server itself. Data goes to stdout, everything said beside it to stderr.
 * Exit code 0 when all went well, 1 otherwise.
 */
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { BATCH_DOCUMENTS_MAX, IMPORT_BATCH_DOCUMENTS_DEFAULT, IMPORT_CONCURRENCY_MAX, LIMIT_MAX } from '../limits.js'
import { AnswerError, ConnectionError, request } from './client.js'
import { exportCollection, type ExportOptions } from './export_command.js'
import { importPath } from './import_command.js'
import { formatHits, formatStats } from './output.js'
import { stateFolder } from './resume_state.js'

const DEFAULT_URL = 'http://127.0.0.1:11023'
/** Only for a person: the library would also colour a file whenever the environment says CI. */
const colors = pc.createColors(process.stderr.isTTY === true && !process.env.NO_COLOR)

export async function runCli(argv: readonly string[]): Promise<void> {
  // The server has its own flags, with its own help.
  if (argv[0] === 'serve') return await serve(argv.slice(1))
  try {
    await buildProgram().parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof AnswerError || error instanceof ConnectionError)) throw error
    process.stderr.write(`${colors.red('mds:')} ${error.message}\n`)
    process.exitCode = 1
  }
}

async function serve(flags: readonly string[]): Promise<void> {
  const main = new URL('../main.js', import.meta.url)
  process.argv = [process.argv[0] ?? process.execPath, fileURLToPath(main), ...flags]
  await import(main.href)
}

function buildProgram(): Command {
  const program = new Command('mds')
    .description('Markdown Document Service: a versioned database of markdown documents with search')
    .showHelpAfterError()
    .addHelpText('after', '\nThe address of the server is --url, else MDS_URL, else ' + DEFAULT_URL + '.')
  program.command('serve').description('run the server; takes the options of `npm start` (mds serve --help)')
  addImport(program)
  addExport(program)
  addSearch(program)
  addGet(program)
  addStats(program)
  return program
}

function addImport(program: Command): void {
  withUrl(program.command('import'))
    .description('import a folder of markdown files, or an NDJSON file')
    .argument(
      '<path>',
      'a folder (*.md, *.markdown; YAML frontmatter becomes metadata) or FILE.ndjson[.gz] with lines {key, lang, meta, contentMd}',
    )
    .requiredOption('-c, --collection <name>', 'collection to import into')
    .option('-l, --lang <code>', 'language of documents that name none', 'en')
    .option('--batch <n>', 'documents in one request', wholeNumber(1, BATCH_DOCUMENTS_MAX), IMPORT_BATCH_DOCUMENTS_DEFAULT)
    .option('--concurrency <n>', 'requests in flight', wholeNumber(1, IMPORT_CONCURRENCY_MAX), 2)
    .option('--strip-frontmatter', 'store the body without its frontmatter block', false)
    .option('--no-resume', 'start from the beginning even where an earlier run was interrupted')
    .addHelpText('after', IMPORT_HELP)
    .action((path: string, options: ImportFlags) => importPath(path, { ...options, stateFolder: stateFolder(process.env) }))
}

type ImportFlags = Omit<Parameters<typeof importPath>[1], 'stateFolder'>

const IMPORT_HELP = `
The key of a file is its path below the folder without the extension. Hidden entries, node_modules and symbolic links are left out.
Frontmatter: values become lists of texts, nested maps dotted keys (faq.0.question). The file's text is stored whole unless --strip-frontmatter is given.
An import that was interrupted continues where it stopped when the same command is given again.`

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

function addStats(program: Command): void {
  withUrl(program.command('stats'))
    .description('collections, sizes and counts of a server')
    .option('--json', "the server's answer as it is", false)
    .action(async (options: { url: string; json: boolean }) => {
      print(await request(options.url, 'GET', '/v1/stats'), options.json, formatStats)
    })
}

function withUrl(command: Command): Command {
  return command.option('-u, --url <url>', 'address of the server', httpUrl, process.env.MDS_URL ?? DEFAULT_URL)
}

function print(answer: unknown, asJson: boolean, format: (answer: unknown) => string): void {
  process.stdout.write(asJson ? `${JSON.stringify(answer, null, 2)}\n` : format(answer))
}

function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('an http:// or https:// address is needed')
  return text
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new InvalidArgumentError(`a whole number from ${min} to ${max} is needed`)
    return value
  }
}
