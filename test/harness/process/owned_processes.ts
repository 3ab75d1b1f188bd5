/**
 * Processes that end with this one: tests, benches and load tests take `spawn`, `fork` and `execFile` from
 * here. After a run that was ended by SIGKILL, by its time limit or by Ctrl-C, no server, supervisor, peer or
 * helper remains.
 *
 * Importing this module puts a mark into the environment, which every process started from here on inherits,
 * and starts a reaper: a shell in a session of its own that reads a pipe of this process. The kernel closes
 * the pipe however this process ends. Then the reaper kills whatever carries the mark. A process that imports
 * the module itself has a mark and a reaper of its own, which sees its end: so a chain of runners ends whole.
 *
 * PR_SET_PDEATHSIG was rejected: it covers children, but not their children, and is lost with a change of
 * user. A program that overwrites its environment (nginx with a master process) is not found. Linux only:
 * elsewhere /proc has no such files, and nothing is killed.
 */
import { execFile, fork, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'

const NAME = 'MDS_TEST_OWNER'
/** `kill -9` takes effect at once, but for a process that waits for a disk: 200 rounds are 10 s. */
const REAPER = `
trap '' HUP INT TERM
read -r _
round=0
while [ $round -lt 200 ]; do
  found=$(grep -lsFe "$1" /proc/[0-9]*/environ)
  [ -n "$found" ] || exit 0
  for path in $found; do
    pid=\${path#/proc/}
    kill -9 "\${pid%/environ}"
  done
  round=$((round + 1))
  sleep 0.05
done`

function startReaper(mark: string): void {
  // Without an inherited mark, or another reaper would kill this one before it has done its work.
  const reaper = spawn('sh', ['-c', REAPER, 'reaper', mark], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  reaper.on('error', (error) => {
    throw new Error('no shell to watch over the processes of this run', { cause: error })
  })
  reaper.unref()
  // The type does not say that the stream is a socket.
  ;(reaper.stdin as unknown as { unref(): void }).unref()
}

const value = randomUUID()
startReaper(`${NAME}=${value}`)
process.env[NAME] = value

/** For an environment that is not made from that of this process. */
export const MARK: Readonly<Record<string, string>> = { [NAME]: value }
export { execFile, fork, spawn }
