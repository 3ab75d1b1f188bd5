/**
 * The matrix of authorisation, generated from the table of operations: each operation for each kind of
 * principal on its own collection, on another one, on both, and on none. Over HTTP by two event loops, and
 * over the port of another surface. What must come out is said by a model of its own (`isPermitted`).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '../../src/operations/index.js'
import type { Operation } from '../../src/operations/row/operation.js'
import { Client, SURFACE_EDITS, surfaceEnv } from './msgpack_surface/client.js'
import { untilHolds } from './process/until.js'
import { httpRequestOf } from './protocols/http_request.js'
import { type ScratchCopy, scratchCopy } from './scratch_copy.js'
import { ACCESS_ENV, Admin, asUser, type Headers, keyOf } from './server/access.js'
import { type Asker, isPermitted, OTHER, OWN, type Situation, situationsOf } from './server/authorisation_model.js'
import { clientsOfLoops, LOOP_LOG, type LoopClient } from './server/loop_clients.js'
import { type Server, startServer } from './server/server.js'

const EVERYTHING_ON = {
  ...ACCESS_ENV,
  SVC_PPROF_ENABLED: 'true',
  SVC_SPELL: 'true',
  SVC_TEMPORAL: 'true',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
}

/** Of every document, and of all metadata, of the other collection. */
const CANARY = /foreigncanary|zanzibarcanary/

const REFUSALS = new Set([
  'missing authentication', 'invalid token', 'invalid api key', 'authentication required', 'forbidden', 'admin access required',
]) // prettier-ignore

export class AuthorisationMatrix {
  /** Every kind of principal. */
  askers: readonly Asker[] = []
  admin!: Admin
  port!: Client
  readonly #folder = mkdtempSync(join(tmpdir(), 'mds-matrix-'))
  #copy!: ScratchCopy
  #server!: Server
  /** One for each event loop. */
  #loops: readonly LoopClient[] = []
  /** False after an operation that may have deleted anything. */
  #isFilled = false
  #requests = 0

  async start(): Promise<void> {
    this.#copy = await scratchCopy(SURFACE_EDITS)
    this.#server = await startServer({
      main: this.#copy.main,
      env: { ...EVERYTHING_ON, ...LOOP_LOG, ...surfaceEnv(join(this.#folder, 'socket')) },
    })
    this.admin = new Admin(this.#server)
    this.#loops = await clientsOfLoops(this.#server, 2)
    this.port = new Client(join(this.#folder, 'socket'))
    for (const name of ['nothing', 'reader', 'writer', 'chief', 'grouped', 'disabled', 'foreign', 'revoked'])
      await this.admin.register(name)
    await this.admin.do('POST', '/v1/auth/groups', { name: 'readers', members: ['grouped'] })
    const expiresAt = Math.ceil(Date.now() / 1000) + 1
    const expired = await keyOf(this.#server, 'reader', expiresAt)
    const key = await keyOf(this.#server, 'reader')
    const foreign = await keyOf(this.#server, 'foreign')
    const keyOfDisabled = await keyOf(this.#server, 'disabled')
    await this.admin.do('PUT', '/v1/auth/users/disabled', { disabled: true })
    await untilHolds(
      () => Date.now() >= expiresAt * 1000,
      () => 'the end of the key',
    )
    this.askers = [
      { name: 'without credentials', rights: 'nobody', headers: {} },
      { name: 'an expired key', rights: 'nobody', headers: { 'x-api-key': expired }, byKey: true },
      { name: 'a disabled user', rights: 'nobody', headers: asUser('disabled') },
      { name: 'an API key of a disabled user', rights: 'nobody', headers: { 'x-api-key': keyOfDisabled }, byKey: true },
      { name: 'a user without rights', rights: 'nothing', user: 'nothing', headers: asUser('nothing') },
      { name: 'a reader', rights: 'read', user: 'reader', headers: asUser('reader') },
      { name: 'a reader by API key', rights: 'read', user: 'reader', headers: { 'x-api-key': key }, byKey: true },
      { name: 'a reader by its group', rights: 'read', user: 'grouped', headers: asUser('grouped') },
      { name: 'a user whose right was just taken away', rights: 'nothing', user: 'revoked', headers: asUser('revoked'), isRevoked: true },
      { name: 'a writer', rights: 'write', user: 'writer', headers: asUser('writer') },
      { name: 'an administrator of the collection', rights: 'admin', user: 'chief', headers: asUser('chief') },
      {
        name: "another user's key",
        rights: 'nothing',
        rightsElsewhere: 'admin',
        user: 'foreign',
        headers: { 'x-api-key': foreign },
        byKey: true,
      },
      { name: 'the administrator of the server', rights: 'everything', user: 'admin', headers: asUser('admin') },
    ]
  }

  async end(): Promise<void> {
    this.port.end()
    for (const client of this.#loops) client.close()
    await this.#server.kill()
    this.#copy.remove()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** The state that every operation finds. At once, so that the commits are few. */
  async fill(): Promise<void> {
    if (this.#isFilled) return
    const { admin } = this
    const document = { key: 'hello-world', lang: 'en' }
    const meta = { category: ['zanzibarcanary'], zanzibarcanary: ['x'] }
    // A schema would refuse the documents.
    await Promise.all([OWN, OTHER].map((collection) => admin.do('POST', '/v1/schema/delete', { collection })))
    await Promise.all([
      admin.do('POST', '/v1/add', { ...document, collection: OWN, contentMd: 'a word', meta: { category: ['tutorial'] } }),
      admin.do('POST', '/v1/add', { ...document, collection: OTHER, contentMd: 'a word zanzibarcanary', meta }),
      admin.grant('reader', OWN, { read: true }),
      admin.grant('writer', OWN, { write: true }),
      admin.grant('chief', OWN, { admin: true }),
      admin.grant('foreign', OTHER, { admin: true }),
      admin.grantGroup('readers', OWN, { read: true }),
    ])
    this.#isFilled = true
  }

  /** On both event loops, which keep what they find out about the credential. */
  async #revoke({ user = '', headers }: Asker): Promise<void> {
    await this.admin.grant(user, '*', { admin: true })
    for (const loop of this.#loops) assert.equal((await loop.ask('GET', '/v1/stats', undefined, headers)).status, 200)
    await this.admin.grant(user, '*', {})
  }

  /** By the event loops in turn. */
  async #overHttp(row: Operation, input: Situation['input'], headers: Headers): Promise<readonly string[]> {
    const texts: string[] = []
    for (const index of (row.http?.routes ?? []).keys()) {
      const client = this.#loops[++this.#requests % this.#loops.length]!
      const asked = await httpRequestOf(row, input, index)
      const answer = await client.ask(asked.method, asked.path, asked.body, { ...asked.headers, ...headers })
      texts.push(answer.text)
    }
    return texts
  }

  /** @returns how many cells there are, and the wrong ones */
  async run(askers: readonly Asker[]): Promise<{ readonly cells: number; readonly wrong: readonly string[] }> {
    let cells = 0
    const wrong: string[] = []
    for (const row of operations) {
      // A stream without an end would keep the connection: test/contract/access/change_feed_rights.test.ts.
      if (row.contentType === 'text/event-stream') continue
      for (const situation of situationsOf(row)) {
        for (const asker of askers) {
          const wanted = isPermitted(row, asker, situation.names)
          const writes = row.effect === 'write' && wanted
          await this.fill()
          if (asker.isRevoked === true) await this.#revoke(asker)
          const texts = await this.#overHttp(row, situation.input, asker.headers)
          this.#isFilled &&= !writes
          for (const text of texts) {
            cells++
            const cell = `${row.name} of ${situation.name} by ${asker.name} over HTTP`
            if (isRefused(text) === wanted) wrong.push(`${cell}: ${text.slice(0, 100)}`)
            const mayShow = asker.rights === 'everything' || asker.rightsElsewhere !== undefined || situation.names.includes(OTHER)
            if (!mayShow && CANARY.test(text)) wrong.push(`${cell} shows the canary: ${text.slice(0, 200)}`)
          }
          // Tokens and keys are checked by surfaces; a port names the user.
          if (asker.byKey === true || row.permission === 'public' || row.needsLogin === true) continue
          await this.fill()
          const { code } = await this.port.ask(row.name, situation.input, undefined, asker.user)
          this.#isFilled &&= !writes
          cells++
          const isDenied =
            code === 'forbidden' ||
            code === 'adminRequired' ||
            code === 'missingAuthentication' ||
            code === 'invalidToken' ||
            code === 'missingFields'
          if (isDenied === wanted) wrong.push(`${row.name} of ${situation.name} by ${asker.name} over a port: ${code}`)
        }
      }
    }
    return { cells, wrong }
  }
}

function isRefused(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { readonly error?: string }
    return error !== undefined && REFUSALS.has(error)
  } catch {
    return false
  }
}
