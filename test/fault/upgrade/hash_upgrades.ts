/** Watches how a server gives documents of an older store their content hashes (hash_upgrade*.test.ts). */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CHORE_STATES, type ChoreState } from '../../../src/chore_list.js'
import { bothChecksums, type Checksums } from '../../harness/store/checksums.js'
import { startServer, type Server } from '../../harness/server/server.js'

const MDS = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))
export const PENDING = '503 {"error":"checksums are being computed after an upgrade, please retry"}'
/** A log line that says why documents are left out. */
export const NOTICE = /documents are not in the checksum of their collection yet/
/** Documents of a round of `SLOW`. */
export const ROUND = 4
/** Rounds of few documents, so that requests and kills meet the upgrade. */
export const SLOW = { SVC_LIMIT_HASH_UPGRADE_DOCUMENTS_MAX: String(ROUND) }
const PATIENCE_MS = 60_000

/** Servers over directories that outlive them. */
export class Servers {
  readonly #started: Server[] = []

  constructor(readonly env: Readonly<Record<string, string>>) {}

  async start(directory: string, more: Readonly<Record<string, string>> = {}): Promise<Server> {
    const server = await startServer({ directory, env: { ...this.env, ...more } })
    this.#started.push(server)
    return server
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#started.map((server) => server.kill()))
  }
}

export async function until(server: Server, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; !(await isSo()); await setTimeout(5)) assert.ok(Date.now() < deadline, server.output())
}

export async function checksumOf(server: Server, collection: string): Promise<string> {
  const { status, text } = await server.get(`/v1/checksum?collection=${collection}`)
  return `${status} ${text}`
}

/** Waits until the collections show their checksums, which must be right, and returns them. */
export async function upgraded(server: Server, collections: readonly string[]): Promise<Checksums[]> {
  const found: Checksums[] = []
  for (const collection of collections) {
    await until(server, async () => (await checksumOf(server, collection)) !== PENDING)
    const [shown, computed] = await bothChecksums(server, collection)
    assert.deepEqual(shown, computed, collection)
    found.push(shown)
  }
  return found
}

export async function rounds(server: Server): Promise<number> {
  return await sampleOf(server, 'rounds_total')
}

export async function stateOf(server: Server): Promise<ChoreState> {
  return CHORE_STATES[await sampleOf(server, 'state')] ?? assert.fail('no such state')
}

async function sampleOf(server: Server, name: string): Promise<number> {
  const { text } = await server.get('/metrics')
  return Number(new RegExp(`^mddb_chore_${name}\\{chore="hash-upgrade"[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? assert.fail(text))
}

/** `mds doctor`, which also hashes the contents, must find nothing. */
export function isWhole(directory: string, env: Readonly<Record<string, string>>): void {
  const doctor = spawnSync(process.execPath, [MDS, 'doctor', '--db', directory], { env: { ...process.env, ...env }, encoding: 'utf8' })
  assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr)
}
