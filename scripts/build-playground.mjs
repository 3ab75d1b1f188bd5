/**
 * Builds the page of GET /playground: GraphiQL, React and the editor in one HTML file without any reference
 * to another host, compressed, beside its Content-Security-Policy and the licences of what is in it. The
 * result is committed, so that nobody else needs the packages, which are installed below build/ in the
 * versions of scripts/playground/package-lock.json. Run after a change of that list or of scripts/playground.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { projectRoot } from './lib/root.mjs'

const sources = join(projectRoot, 'scripts', 'playground')
const work = join(projectRoot, 'build', 'playground')
const target = join(projectRoot, 'src', 'surface', 'graphql', 'playground')
const WORKERS = {
  'worker-editor': 'monaco-editor/esm/vs/editor/editor.worker.js',
  'worker-json': 'monaco-editor/esm/vs/language/json/json.worker.js',
  'worker-graphql': 'monaco-graphql/esm/graphql.worker.js',
}

mkdirSync(work, { recursive: true })
for (const file of readdirSync(sources)) copyFileSync(join(sources, file), join(work, file))
execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work, stdio: 'inherit' })

const { outputFiles, metafile } = await build({
  absWorkingDir: work,
  entryPoints: { main: 'main.js', ...WORKERS },
  bundle: true,
  minify: true,
  write: false,
  outdir: 'out',
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  loader: { '.ttf': 'dataurl' },
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  metafile: true,
})
/** A script ends at the first `</script`, and `<!--` changes how it is read. */
const inScript = (text) => text.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')
const outputOf = (name) => outputFiles.find(({ path }) => path.endsWith(`/${name}`)).text
const style = outputOf('main.css')
const script = inScript(outputOf('main.js'))
const workers = Object.keys(WORKERS).map((id) => `<script type="text/plain" id="${id}">${inScript(outputOf(`${id}.js`))}</script>`)
const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Markdown Document Service: GraphQL</title><style>${style}</style></head>
<body>${workers.join('\n')}
<div id="graphiql">Loading</div><script>${script}</script></body></html>
`

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const styles = `${hashOf(style)} ${hashOf('')}`
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  'worker-src blob:',
  // Empty style elements are filled by script. Lines of the editor have their positions as attributes.
  `style-src ${styles}`,
  `style-src-elem ${styles}`,
  "style-src-attr 'unsafe-inline'",
  'font-src data:',
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Packages with code in the page, and their licences. */
function licences() {
  const names = new Set(Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  return [...names].sort().map((name) => {
    const folder = join(work, 'node_modules', name)
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const text =
      file === undefined ? 'The package has no file with the text of its licence.' : readFileSync(join(folder, file), 'utf8').trim()
    return `${'='.repeat(78)}\n${name} ${version}: ${license}\n${'='.repeat(78)}\n\n${text}\n`
  })
}

const head = 'Packages that are part of playground.html.gz. Written by scripts/build-playground.mjs.\n'
writeFileSync(join(target, 'LICENSES.txt'), [head, ...licences()].join('\n'))
writeFileSync(join(target, 'playground.html.gz'), gzipSync(page, { level: constants.Z_BEST_COMPRESSION }))
writeFileSync(
  join(target, 'policy.ts'),
  `/** Written by scripts/build-playground.mjs: the policy of playground.html.gz, with its hashes. */
// prettier-ignore
export const PLAYGROUND_POLICY =
  ${JSON.stringify(policy)}
`,
)
