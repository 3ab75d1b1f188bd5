/** `mds init`: writes the configuration of a server with access control. It does not show the secrets. */
import { randomBytes, randomInt } from 'node:crypto'
import { GENERATED_PASSWORD_CHARS, GENERATED_SECRET_BYTES } from '../limits/cli.js'
import { createPrivateFile } from './private_file.js'

/** Without those that are mistaken for one another. 24 of these 56 have 139 bits. */
const PASSWORD_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789'

/** @returns what to do next, for stdout. @throws CommandError if the file exists */
export function initServer(path: string): string {
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
