/** The commands of access control: `init`, `login`, `logout`, `user`, `key`, `group`, `grant`, `revoke`. */
import { randomBytes, randomInt } from 'node:crypto'
import type { Command } from 'commander'
import { AnswerError, errorText, request, send } from '../client.js'
import { print, withUrl } from '../command_options.js'
import { credentialsPath, removeToken, storeToken } from '../credentials.js'
import { asRecord, asText } from '../output.js'
import { createPrivateFile } from '../private_file.js'
import { CommandError, say } from '../terminal.js'
import type { GrantOptions } from './account_commands.js'
import {
  addUser,
  changePassword,
  createKey,
  formatGroups,
  formatKeys,
  formatUsers,
  pathOf,
  setDisabled,
  setGrant,
} from './account_commands.js'
import type { AskPassword } from './password_prompt.js'
import { passwordSource } from './password_prompt.js'

/** Characters of the password that `mds init` makes: the number of the issue, 139 bits. */
const GENERATED_PASSWORD_CHARS = 24
/** Bytes of the secret that `mds init` makes: more than the 32 of the digest that it keys. */
const GENERATED_SECRET_BYTES = 48

/** Without those that are mistaken for one another. 24 of these 56 have 139 bits. */
const PASSWORD_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789'

const SOURCES =
  '\nPasswords come from a variable (MDS_PASSWORD, a new one MDS_NEW_PASSWORD), else from lines of standard input, else from the terminal.'

/** Options of the commands that print an answer of the server. */
interface Shown {
  readonly url: string
  readonly json: boolean
}

export function addAccessCommands(program: Command): void {
  addLogin(program)
  addUsers(program.command('user').description('users of the server').addHelpText('after', SOURCES))
  addKeys(program.command('key').description("one's own API keys"))
  addGroups(program.command('group').description('groups of users'))
  addGrants(program)
}

function addLogin(program: Command): void {
  program
    .command('init')
    .description('write the configuration of a server with access control, with new secrets')
    .option('--config <file>', 'the new file', 'mds.yaml')
    .action(({ config }: { config: string }) => say(initServer(config)))
  withUrl(program.command('login'))
    .description('store a token for this server, which the other commands use')
    .option('--username <name>', 'the user', 'admin')
    .addHelpText('after', `${SOURCES}\nMDS_TOKEN or MDS_API_KEY are used before a stored token. MDS_CREDENTIALS_FILE names its file.`)
    .action(async ({ url, username }: { url: string; username: string }) => {
      say(await login(url, username, passwordSource(process.env), process.env))
    })
  withUrl(program.command('logout'))
    .description('remove the stored token for this server')
    .action(({ url }: { url: string }) => say(logout(url, process.env)))
}

function addUsers(user: Command): void {
  shown(user.command('list')).action(async ({ url, json }: Shown) => print(await request(url, 'GET', '/v1/auth/users'), json, formatUsers))
  shown(user.command('add <name>').description('a new user, who may do nothing yet')).action(async (name: string, { url, json }: Shown) =>
    print(await addUser(url, name, passwordSource(process.env)), json, () => 'added\n'),
  )
  shown(user.command('disable <name>')).action(async (name: string, { url, json }: Shown) =>
    print(await setDisabled(url, name, true), json, () => 'disabled\n'),
  )
  shown(user.command('enable <name>')).action(async (name: string, { url, json }: Shown) =>
    print(await setDisabled(url, name, false), json, () => 'enabled\n'),
  )
  shown(user.command('password [name]').description("set a user's password; without a name one's own, after the present one")).action(
    async (name: string | undefined, { url, json }: Shown) =>
      print(await changePassword(url, name, passwordSource(process.env)), json, () => 'changed\n'),
  )
  shown(user.command('delete <name>')).action(async (name: string, { url, json }: Shown) =>
    print(await request(url, 'DELETE', pathOf('users', name)), json, () => 'deleted\n'),
  )
}

function addKeys(key: Command): void {
  shown(key.command('list')).action(async ({ url, json }: Shown) => print(await request(url, 'GET', '/v1/auth/api-keys'), json, formatKeys))
  shown(key.command('create').description("a key with one's own rights, printed once"))
    .option('--description <text>', 'what it is for', '')
    .option('--expires <time>', 'e.g. 12h or 90d; without it, the key has no end')
    .action(async ({ url, json, description, expires }: Shown & { description: string; expires?: string }) =>
      print(await createKey(url, description, expires), json, (answer) => `${asText(asRecord(answer).key)}\n`),
    )
  shown(key.command('delete <hash>').description('of the list')).action(async (hash: string, { url, json }: Shown) =>
    print(await request(url, 'DELETE', pathOf('api-keys', hash)), json, () => 'deleted\n'),
  )
}

function addGroups(group: Command): void {
  shown(group.command('list')).action(async ({ url, json }: Shown) =>
    print(await request(url, 'GET', '/v1/auth/groups'), json, formatGroups),
  )
  shown(group.command('add <name> [users...]').description('a new group with these members')).action(
    async (name: string, members: readonly string[], { url, json }: Shown) =>
      print(await request(url, 'POST', '/v1/auth/groups', { name, members }), json, () => 'added\n'),
  )
  shown(group.command('members <name> [users...]').description('replace the members')).action(
    async (name: string, members: readonly string[], { url, json }: Shown) =>
      print(await request(url, 'PUT', pathOf('groups', name), { members }), json, () => 'changed\n'),
  )
  shown(group.command('delete <name>')).action(async (name: string, { url, json }: Shown) =>
    print(await request(url, 'DELETE', pathOf('groups', name)), json, () => 'deleted\n'),
  )
}

function addGrants(program: Command): void {
  shown(program.command('grant <user> <collection>').description('set the rights on a collection, * being all of them'))
    .option('--group', 'the first argument is a group', false)
    .option('--read', 'may read', false)
    .option('--write', 'may write', false)
    .option('--admin', 'administrator of the collection; of the server on *', false)
    .action(async (name: string, collection: string, options: GrantOptions & Shown) => {
      if (!options.read && !options.write && !options.admin)
        throw new CommandError('--read, --write or --admin is needed; mds revoke removes rights')
      print(await setGrant(name, collection, options), options.json, () => 'granted\n')
    })
  shown(program.command('revoke <user> <collection>').description('remove all rights on a collection'))
    .option('--group', 'the first argument is a group', false)
    .action(async (name: string, collection: string, options: Pick<GrantOptions, 'group'> & Shown) => {
      const answer = await setGrant(name, collection, { ...options, read: false, write: false, admin: false })
      print(answer, options.json, () => 'revoked\n')
    })
}

function shown(command: Command): Command {
  return withUrl(command).option('--json', "the server's answer as it is", false)
}

/**
 * `mds init`: writes the configuration of a server with access control. It does not show the secrets.
 * @returns what to do next, for stdout. @throws CommandError if the file exists
 */
function initServer(path: string): string {
  const text = configuration()
  createPrivateFile(path, text)
  return `${path} written; only you can read it. Next:
  mds serve --config ${path}
  mds login --username admin    (the password is auth.adminPassword in that file)
`
}

function configuration(): string {
  return `# Written by mds init. Keep it secret: it has the password of the first administrator.
auth:
  enabled: true
  # Signs tokens. All servers behind one load balancer need the same.
  jwtSecret: ${JSON.stringify(randomBytes(GENERATED_SECRET_BYTES).toString('base64url'))}
  adminUsername: admin
  # Used when the administrator is created, at the first start.
  adminPassword: ${JSON.stringify(newPassword())}
`
}

/** randomInt has no modulo bias. */
function newPassword(): string {
  return Array.from({ length: GENERATED_PASSWORD_CHARS }, () => PASSWORD_ALPHABET[randomInt(PASSWORD_ALPHABET.length)]).join('')
}

/**
 * `mds login`: stores the token of a server in the credentials file.
 * @returns the line for stdout, without the token. @throws CommandError, AnswerError, ConnectionError
 */
async function login(url: string, username: string, ask: AskPassword, env: NodeJS.ProcessEnv): Promise<string> {
  const password = await ask(`password of ${username}`, 'MDS_PASSWORD')
  const reply = await send(url, 'POST', '/v1/auth/login', JSON.stringify({ username, password }), 'anonymous')
  if (reply.status === 401) throw new CommandError(`${url}: user or password is wrong`)
  if (reply.status === 404) throw new CommandError(`${url} has no access control; nothing to log in to`)
  if (reply.status !== 200) throw new AnswerError(reply.status, errorText(reply))
  storeToken(url, readToken(reply.text), env)
  return `logged in as ${username}; the token is in ${credentialsPath(env)}\n`
}

/** `mds logout`. @returns the line for stdout */
function logout(url: string, env: NodeJS.ProcessEnv): string {
  return removeToken(url, env) ? 'logged out\n' : `no login at ${url}\n`
}

function readToken(text: string): { token: string; expiresAt: number } {
  try {
    const { token, expiresAt } = JSON.parse(text) as Record<string, unknown>
    if (typeof token === 'string' && typeof expiresAt === 'number') return { token, expiresAt }
  } catch {
    // As an answer without a token.
  }
  throw new CommandError('the answer holds no token; is this the right address?')
}
