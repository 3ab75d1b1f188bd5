/** `mds login` and `mds logout`: the token of a server in the credentials file. */
import { AnswerError, errorText, send } from './client.js'
import { CommandError } from './command_error.js'
import { credentialsPath, removeToken, storeToken } from './credentials.js'
import type { AskPassword } from './password_prompt.js'

/** @returns the line for stdout, without the token. @throws CommandError, AnswerError, ConnectionError */
export async function login(url: string, username: string, ask: AskPassword, env: NodeJS.ProcessEnv): Promise<string> {
  const password = await ask(`password of ${username}`, 'MDS_PASSWORD')
  const reply = await send(url, 'POST', '/v1/auth/login', JSON.stringify({ username, password }), 'anonymous')
  if (reply.status === 401) throw new CommandError(`${url}: user or password is wrong`)
  if (reply.status === 404) throw new CommandError(`${url} has no access control; nothing to log in to`)
  if (reply.status !== 200) throw new AnswerError(reply.status, errorText(reply))
  storeToken(url, readToken(reply.text), env)
  return `logged in as ${username}; the token is in ${credentialsPath(env)}\n`
}

/** @returns the line for stdout */
export function logout(url: string, env: NodeJS.ProcessEnv): string {
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
