/**
 * What access control does on the front end: logins, new passwords, the bootstrap administrator, and the last
 * uses of API keys. Lanes read and write the accounts. Front-end thread only.
 */
import { AuthFailures } from '../../access/auth_failures.js'
import { loginRules, LoginThrottle } from '../../access/login_throttle.js'
import type { LoginMessage, PasswordMessage } from '../../access/messages.js'
import { SYSTEM } from '../../access/principal.js'
import { TokenSigner } from '../../access/tokens.js'
import { Chore, type ChoreTools, type Rest } from '../../chore.js'
import type { Config } from '../../config/config.js'
import { refusal, successOf } from '../../dispatch/answers/answers.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import { ask, askFor } from '../../dispatch/inner_request.js'
import type { Io } from '../../dispatch/io.js'
import { PASSWORD_BYTES_MAX } from '../../limits/access.js'
import { findUser, login, noteKeyUses, storeAccount } from '../../operations/access/auth.js'
import { changeUser, register } from '../../operations/access/users.js'
import { mayWriteUnasked } from '../../role.js'
import type { Service } from '../../services.js'
import { log } from '../../telemetry/log.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import { type HashQueue, PasswordThreads } from './password_threads.js'

/** Old passwords of one user that are compared or wait: nobody changes a password twice at once. */
const GUESSES_OF_USER_MAX = 2
/** API keys whose last use is gathered. Uses of further ones are written with a later round. */
const KEY_USES_GATHERED_MAX = 10_000

/**
 * Compared where there is no such user: a login takes the same time for known and unknown names. The hash of
 * no password that anybody has.
 */
const NOBODYS_HASH = '$2b$12$A84VZMiG.nz3j.h6ldDCoOifgIRN3W49dJnkPR5He0ab6WXxxDZry'

/** An attempt at the password of a user. */
interface Attempt {
  readonly queue: HashQueue
  readonly throttle: LoginThrottle
  readonly username: string
  readonly address: string
}

export class Accounts implements Service {
  readonly name = 'accounts'
  readonly #threads: PasswordThreads
  readonly #signer: TokenSigner
  readonly #adminPassword: string
  readonly #throttle: LoginThrottle
  /** Of old passwords, apart: whoever guesses with a token must not slow down the logins of its address. */
  readonly #guesses: LoginThrottle
  /** Old passwords that are compared or wait, by user. */
  readonly #guessing = new Map<string, number>()
  readonly #failures: AuthFailures
  readonly #keyUses: Chore
  /** Unix seconds by the hash of the key, until they are written. */
  #uses = new Map<string, number>()

  /** @param config with access control on */
  constructor(
    readonly config: Config,
    readonly dispatcher: Dispatcher,
    readonly tools: ChoreTools,
  ) {
    const { auth, authJwtExpiryMs } = config
    if (auth === null) throw new Error('access control is off')
    this.#threads = new PasswordThreads(config.limits.BCRYPT_COST, (isFull) => (dispatcher.control.loginsRefused = isFull))
    this.#signer = new TokenSigner(auth.jwtSecret, authJwtExpiryMs)
    this.#adminPassword = auth.adminPassword
    this.#throttle = new LoginThrottle(loginRules(config))
    this.#guesses = new LoginThrottle(loginRules(config))
    this.#failures = new AuthFailures(config)
    this.#keyUses = new Chore(tools, {
      name: 'api-key-uses',
      first: 'idle',
      failure: 'the last uses of API keys are not stored yet',
      round: () => this.#storeUses(),
    })
    dispatcher.onIo(login, this.#login, { commits: false })
    dispatcher.onIo(register, this.#setPassword, { commits: false })
    dispatcher.onIo(changeUser, this.#setPassword, { commits: false })
  }

  /** Creates the bootstrap administrator where it does not exist. Its password is not changed otherwise. */
  async start(): Promise<void> {
    this.#keyUses.start()
    if (!mayWriteUnasked(this.tools.role)) return
    const username = this.config.authAdminUsername
    const { exists } = await askFor<{ readonly exists: boolean }>(this.dispatcher, findUser, { username })
    if (exists) return
    const passwordHash = await this.#threads.hash(this.#adminPassword)
    await askFor(this.dispatcher, storeAccount, { change: 'ensure', username, passwordHash })
    log.info('access control: the administrator was created')
  }

  async stop(): Promise<void> {
    await this.#keyUses.stop()
    await this.#threads.close()
  }

  /** Called for each API key that was found valid. */
  noteKeyUse(hash: string): void {
    if (this.#uses.size === 0) this.#keyUses.wake(this.config.limits.KEY_USES_GATHERED_MS)
    if (this.#uses.size < KEY_USES_GATHERED_MAX) this.#uses.set(hash, Math.floor(Date.now() / 1000))
  }

  /** Called for each token or API key that was refused. It names nobody whose name could be trusted. */
  noteFailure(ip: string): void {
    this.#failures.failed('', ip)
  }

  readonly #login: Io<LoginMessage> = async ({ username, password, user }, { clientAddress, noteAttemptedName }) => {
    noteAttemptedName(username)
    const address = clientAddress()
    // The throttle must know whom it slows down, and nobody would see the answer.
    if (address === null) return refusal('deadline')
    const refused = await this.#verify(
      { queue: 'login', throttle: this.#throttle, username, address },
      password,
      user?.passwordHash ?? null,
    )
    if (refused !== null || user === null) return refused ?? refusal('invalidCredentials')
    const { tokenEpoch, isAdmin } = user
    return successOf(JSON.stringify(this.#signer.issue({ username, isAdmin, tokenEpoch })))
  }

  readonly #setPassword: Io<PasswordMessage> = async (message, { principal, clientAddress }) => {
    const { change, username, password, old, disabled } = message
    if (old !== null) {
      const refused = await this.#verifyOld(username, old, clientAddress())
      if (refused !== null) return refused
    }
    if (password !== null && !this.#threads.hasSpace('change')) return refusal('tooManyLogins')
    const passwordHash = password === null ? undefined : await this.#threads.hash(password)
    const given = {
      ...(passwordHash === undefined ? {} : { passwordHash }),
      ...(disabled === undefined ? {} : { disabled }),
    }
    return await ask(this.dispatcher, storeAccount, { change, username, ...given }, { ...SYSTEM, name: principal.name })
  }

  /** One user's guesses must not fill the queue for the others. */
  async #verifyOld(
    username: string,
    { password, passwordHash }: NonNullable<PasswordMessage['old']>,
    address: string | null,
  ): Promise<OutgoingAnswer | null> {
    if (address === null) return refusal('deadline')
    const guesses = this.#guessing.get(username) ?? 0
    if (guesses >= GUESSES_OF_USER_MAX) return refusal('tooManyLogins')
    this.#guessing.set(username, guesses + 1)
    try {
      return await this.#verify({ queue: 'change', throttle: this.#guesses, username, address }, password, passwordHash)
    } finally {
      const left = (this.#guessing.get(username) ?? 1) - 1
      if (left > 0) this.#guessing.set(username, left)
      else this.#guessing.delete(username)
    }
  }

  /**
   * Compares a password, slowed down by its throttle.
   * @param hash null: there is no such user
   * @returns the refusal; null: the password is right
   */
  async #verify({ queue, throttle, username, address }: Attempt, password: string, hash: string | null): Promise<OutgoingAnswer | null> {
    if (!this.#threads.hasSpace(queue)) return refusal('tooManyLogins')
    const waitMs = throttle.admit(username, address)
    if (waitMs > 0) return { ...refusal('tooManyLogins'), facts: ['retryAfterSeconds', String(Math.ceil(waitMs / 1000))] }
    // bcrypt would compare the first bytes only.
    const isTooLong = Buffer.byteLength(password) > PASSWORD_BYTES_MAX
    const matches = await this.#threads.matches(queue, isTooLong ? '' : password, hash ?? NOBODYS_HASH)
    if (!matches || hash === null || isTooLong) {
      this.#failures.failed(username, address)
      return refusal('invalidCredentials')
    }
    throttle.succeeded(username, address)
    return null
  }

  async #storeUses(): Promise<Rest> {
    const uses = this.#uses
    this.#uses = new Map()
    if (uses.size === 0) return 'idle'
    const { code }: OutgoingAnswer = await ask(this.dispatcher, noteKeyUses, { hashes: [...uses.keys()], at: [...uses.values()] })
    if (code !== null) throw new Error(code)
    return 'idle'
  }
}
