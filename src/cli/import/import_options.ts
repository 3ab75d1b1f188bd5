/** The options of `mds import`, as the command line gives them. */
import { createHash } from 'node:crypto'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { BATCH_DOCUMENTS_MAX } from '../../limits/documents.js'
import { wholeNumber, wholeNumbers, withUrl } from '../command_options.js'
import type { FieldNames } from '../files/foreign_document.js'
import { LANG_FROM, type LangFrom } from '../files/languages.js'
import type { Additions } from './prepared_source.js'

/** Documents in one add-batch body, unless an option says otherwise. */
const IMPORT_BATCH_DOCUMENTS_DEFAULT = 500
/** Requests of one import in flight. Above this the server only queues, because it commits on one lane. */
const IMPORT_CONCURRENCY_MAX = 16
/** Numbers of namespaces: those of extensions go to some thousands. */
const WIKI_NAMESPACE_MAX = 99_999
/** Above every wiki: the largest have 60 million pages. */
const WIKI_PAGES_MAX = 1_000_000_000
/** UTF-8 bytes of the name of a source: it is a value of metadata, and shown. */
const SOURCE_NAME_BYTES_MAX = 256

export interface ImportOptions extends Additions, FieldNames {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly git: boolean
  readonly langFrom: LangFrom
  readonly url: string
  readonly collection: string
  readonly lang: string
  readonly batch: number
  readonly concurrency: number
  readonly resume: boolean
  /** Sends documents that the server has already, too. */
  readonly all: boolean
  readonly dryRun: boolean
  readonly watch: boolean
  /** Removals of more than half are meant. */
  readonly yes: boolean
  readonly stripFrontmatter: boolean
  /** Of dumps of wikis. */
  readonly namespaces: readonly number[]
  readonly skipRedirects: boolean
  readonly maxPages: number
  readonly keepTimes: boolean
  readonly stateFolder: string
}

/** Changes where the choice or the form of documents changes, so that an interrupted run is not continued. */
export function fingerprintOf(options: ImportOptions): string {
  const { lang, langFrom, include, exclude, git, keyPrefix, meta, titles, stripFrontmatter } = options
  const fields = [options.keyField, options.contentField, options.langField]
  const choice = JSON.stringify([lang, langFrom, include, exclude, git, keyPrefix, meta, titles, stripFrontmatter, fields])
  return createHash('sha256').update(choice).digest('hex').slice(0, 16)
}

export function addImport(program: Command, run: (path: string, options: Omit<ImportOptions, 'stateFolder'>) => Promise<void>): void {
  withUrl(program.command('import'))
    .description('import a folder of files, one file, an NDJSON file, or a dump of a wiki')
    .argument(
      '<path>',
      'a folder or a file (md, markdown, mdx, txt, html, pdf, docx, odt, rtf, tex, yaml, log, lex; YAML frontmatter becomes metadata), FILE.ndjson[.gz] with lines {key, lang, meta, contentMd} or documents of another engine (JSON lines or an array), FILE.csv[.gz] with a row of names, FILE.zip of such files, or DUMP.xml[.bz2|.gz] of a wiki',
    )
    .requiredOption('-c, --collection <name>', 'collection to import into')
    .option('-l, --lang <code>', 'language of documents that name none', 'en')
    .addOption(
      new Option('--lang-from <where>', 'where files say their language: in the name of the first folder, or in frontmatter')
        .choices(LANG_FROM)
        .default('none'),
    )
    .option('--include <glob>', 'of a folder: only files whose path matches; repeatable', added, [])
    .option('--exclude <glob>', 'of a folder: no files whose path matches; repeatable', added, [])
    .option('--git', 'of a folder in a checkout of git: only files that are tracked', false)
    .option('--key-prefix <text>', 'put in front of every key', '')
    .option('--meta <name=value>', 'metadata of documents that do not have that name themselves; repeatable', metaEntry, {})
    .option('--titles', 'the first heading as `title` of documents without one', false)
    .option('--key-field <name>', 'of exports of other engines: the field that is the key (default: id, _id of Elasticsearch)')
    .option('--content-field <name>', 'of exports of other engines: the field that is the text (default: content)')
    .option('--lang-field <name>', 'of exports of other engines: the field that is the language')
    .option('--strip-frontmatter', 'store the body without its frontmatter block', false)
    .option('--all', 'send documents that the server has already, too, which makes a revision of each', false)
    .option('--sync <name>', 'mark documents as those of this source, and remove those whose file is gone from it', sourceName)
    .option('--yes', 'with --sync: remove also more than half of the documents', false)
    .option('--dry-run', 'say what would be added, updated and removed, and change nothing', false)
    .option('--watch', 'of a folder: go on importing what changes; with --sync, remove what is deleted', false)
    .option('--batch <n>', 'documents in one request', wholeNumber(1, BATCH_DOCUMENTS_MAX), IMPORT_BATCH_DOCUMENTS_DEFAULT)
    .option('--concurrency <n>', 'requests in flight', wholeNumber(1, IMPORT_CONCURRENCY_MAX), 2)
    .option('--keep-times', 'keep addedAt and updatedAt of the lines of an export, and their order', false)
    .option('--namespaces <ids>', 'of a wiki: the namespaces whose pages are imported', wholeNumbers(WIKI_NAMESPACE_MAX), [0])
    .option('--skip-redirects', 'of a wiki: leave out pages that lead to another one', false)
    .option('--max-pages <n>', 'of a wiki: end after so many imported pages; 0 is no bound', wholeNumber(0, WIKI_PAGES_MAX), 0)
    .option('--no-resume', 'start from the beginning even where an earlier run was interrupted')
    .addHelpText('after', IMPORT_HELP)
    .action(run)
}

const added = (text: string, before: readonly string[]): readonly string[] => [...before, text]

type MetaEntries = Readonly<Record<string, readonly string[]>>

/** A name that is given repeatedly has all the values. */
function metaEntry(text: string, before: MetaEntries): MetaEntries {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('name=value is needed')
  const name = text.slice(0, at)
  const values = Object.hasOwn(before, name) ? (before[name] ?? []) : []
  // fromEntries defines own properties, so a name `__proto__` stays data.
  return Object.fromEntries([...Object.entries(before), [name, [...values, text.slice(at + 1)]]])
}

function sourceName(text: string): string {
  if (text === '' || text.startsWith('-') || Buffer.byteLength(text) > SOURCE_NAME_BYTES_MAX)
    throw new InvalidArgumentError(`the name of the source is needed, at most ${SOURCE_NAME_BYTES_MAX} bytes`)
  return text
}

const IMPORT_HELP = `
The key of a file is its path below the folder without the extension. Hidden entries, node_modules and symbolic links are left out.
Frontmatter: values become lists of texts, nested maps dotted keys (faq.0.question). The file's text is stored whole unless --strip-frontmatter is given.
Other formats than markdown are converted; upload_format, upload_filename and upload_converted in the metadata say from which file.
Wikis: wikitext becomes markdown; the key is the title in lower case with dashes, and wiki_* metadata say where a page is from.
What the server has already is not sent again. An import that was interrupted continues where it stopped when the same command is given again.`
