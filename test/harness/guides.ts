/**
 * The guides as programs: the blocks of a Markdown file, and a shell that runs those with commands against a
 * real server. In that shell `npm start` and `mds serve` start the server in the background, after the former
 * one has ended, and `curl` fails on an error status. Ports of the text are replaced by free ones.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { programPath, projectFolder } from '../../src/base/installation.js'

export interface GuideBlock {
  /** The first word behind the fence; empty: none. */
  readonly language: string
  /** The words behind the language. */
  readonly mark: string
  readonly text: string
  /** The heading above it. */
  readonly heading: string
  readonly line: number
}

/** All fenced blocks, in order. */
export function blocksOf(markdown: string): readonly GuideBlock[] {
  const blocks: GuideBlock[] = []
  let heading = ''
  let open: { readonly info: string; readonly line: number; readonly lines: string[] } | undefined
  for (const [at, line] of markdown.split('\n').entries()) {
    if (open === undefined) {
      heading = /^#+ (.*)/.exec(line)?.[1] ?? heading
      if (line.startsWith('```')) open = { info: line.slice(3).trim(), line: at + 1, lines: [] }
    } else if (line === '```') {
      const [language = '', ...mark] = open.info.split(' ')
      blocks.push({ language, mark: mark.join(' '), text: open.lines.join('\n'), heading, line: open.line })
      open = undefined
    } else open.lines.push(line)
  }
  return blocks
}

/** Begins the output of a block, so that a failure names it. */
const MARKER = '=== block at line '

const PRELUDE = String.raw`
set -euo pipefail
server=
stop_server() {
  [ -z "$server" ] && return
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" || true
  server=
}
trap stop_server EXIT
serve() {
  stop_server
  rm -f server.fifo
  mkfifo server.fifo
  SVC_ADDR="$GUIDE_HTTP" SVC_GRPC_ADDR="$GUIDE_GRPC" SVC_MCP_ADDR="$GUIDE_MCP" SVC_SUPERVISOR=false \
    command node "$GUIDE_MAIN" "$@" > server.fifo 2>&1 < /dev/null &
  server=$!
  exec 8< server.fifo
  local line
  while IFS= read -r line <&8; do
    printf '%s\n' "$line"
    if [[ $line == 'ready on '* ]]; then
      cat <&8 > /dev/null &
      return 0
    fi
  done
  echo 'the server ended before it was ready'
  return 1
}
npm() {
  [ "$1" = start ] || { echo "npm $1 is not known here"; return 1; }
  shift
  [ "$#" -gt 0 ] && [ "$1" = -- ] && shift
  serve "$@"
}
mds() {
  if [ "$1" = serve ]; then shift; serve "$@"; return; fi
  if [ "$1" = login ]; then
    MDS_PASSWORD=$(sed -n 's/^ *adminPassword: *//p' mds.yaml | tr -d "\"'") command node "$GUIDE_MDS" "$@"
    return
  fi
  command node "$GUIDE_MDS" "$@"
}
node() {
  if [ "$1" = bin/mds.mjs ]; then shift; mds "$@"; return; fi
  # In the background its process is that of the shell, which a guide may end.
  [ "$BASHPID" = "$$" ] || exec node "$@"
  command node "$@"
}
curl() {
  local argument mode=--fail-with-body
  for argument in "$@"; do [[ $argument =~ ^-[a-zA-Z]*f ]] && mode=--no-progress-meter; done
  command curl --no-progress-meter "$mode" --max-time 60 "$@"
}
`

export interface GuideRun {
  readonly folder: string
  /** Three free ports: HTTP, gRPC, MCP. */
  readonly ports: readonly [number, number, number]
  readonly env?: Readonly<Record<string, string>>
  /** Commands before the first block: what the guide takes for granted. */
  readonly before?: string
}

/** Runs the blocks one after the other in one shell. */
export function runBlocks(
  blocks: readonly GuideBlock[],
  { folder, ports, env, before = '' }: GuideRun,
): { readonly status: number | null; readonly output: string } {
  mkdirSync(folder, { recursive: true })
  const rewritten = (text: string): string =>
    text
      .replaceAll(/\b(?:11023|8080)\b/g, String(ports[0]))
      .replaceAll(/\b11024\b/g, String(ports[1]))
      .replaceAll(/\b9000\b/g, String(ports[2]))
      // Profiles of ten seconds show nothing more.
      .replaceAll('seconds=10', 'seconds=1')
  for (const { language, text } of blocks) {
    const name = /^# (\S+\.ya?ml)$/m.exec(text.split('\n')[0] ?? '')?.[1]
    if (language === 'yaml' && name !== undefined) writeFileSync(join(folder, name), rewritten(text))
  }
  const parts = blocks.filter(({ language }) => language === 'sh').map(({ text, line }) => `echo '${MARKER}${line}'\n${rewritten(text)}\n`)
  const script = [PRELUDE, rewritten(before), ...parts].join('\n')
  const path = join(folder, 'guide.sh')
  writeFileSync(path, script)
  const { status, stdout } = spawnSync('bash', ['-c', `exec bash '${path}' 2>&1`], {
    cwd: folder,
    encoding: 'utf8',
    timeout: GUIDE_MS_MAX,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_STATE_HOME: folder,
      MDS_CREDENTIALS_FILE: join(folder, 'credentials.json'),
      MDS_URL: `http://127.0.0.1:${ports[0]}`,
      MDS_NEW_PASSWORD: 'a long sentence of alice',
      GUIDE_HTTP: `127.0.0.1:${ports[0]}`,
      GUIDE_GRPC: `127.0.0.1:${ports[1]}`,
      GUIDE_MCP: `127.0.0.1:${ports[2]}`,
      GUIDE_MAIN: programPath('main'),
      GUIDE_MDS: join(projectFolder(), 'bin', 'mds.mjs'),
      ...env,
    },
  })
  return { status, output: stdout }
}

/** A guide starts at most a handful of servers; a start on a busy machine takes seconds. */
const GUIDE_MS_MAX = 240_000

/** The folder of the guides' Markdown. */
export const GUIDES_FOLDER = join(projectFolder(), 'docs', 'guides')
export const README = join(dirname(dirname(GUIDES_FOLDER)), 'README.md')
