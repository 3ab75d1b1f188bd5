/**
 * Certificates for tests, made by openssl when they are needed: a CA, and pairs that it has signed for this
 * machine.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** False, or why the tests are skipped. */
export const LACKS_OPENSSL =
  spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0 ? false : 'openssl, which makes the certificates, is not here'

/** Paths of PEM files. */
export interface Pair {
  readonly cert: string
  readonly key: string
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export class CertificateAuthority {
  readonly #folder: string
  readonly #own: Pair

  /** @param folder an existing one, for the files */
  constructor(folder: string, name = 'ca') {
    this.#folder = folder
    this.#own = pairIn(folder, name)
    openssl('req', '-x509', ...NEW_KEY, '-keyout', this.#own.key, '-out', this.#own.cert, '-days', '2', '-subj', `/CN=${name}`)
  }

  get cert(): string {
    return this.#own.cert
  }

  /** What a client needs that trusts this CA. */
  get trust(): { readonly ca: Buffer } {
    return { ca: readFileSync(this.cert) }
  }

  /** A new pair for localhost and 127.0.0.1, also for clients. @param name the common name */
  sign(name: string): Pair {
    const pair = pairIn(this.#folder, name)
    const request = join(this.#folder, `${name}.csr`)
    const names = join(this.#folder, 'names')
    writeFileSync(names, 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
    openssl('req', ...NEW_KEY, '-keyout', pair.key, '-out', request, '-subj', `/CN=${name}`)
    const { cert, key } = this.#own
    openssl(
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      cert,
      '-CAkey',
      key,
      '-CAcreateserial',
      '-out',
      pair.cert,
      '-days',
      '2',
      '-extfile',
      names,
    )
    return pair
  }

  /** As `sign`, valid until the last second of the year 2001. */
  signExpired(name: string): Pair {
    const pair = this.sign(name)
    const { cert, key } = this.#own
    const folder = join(this.#folder, `${name}-database`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'index'), '')
    writeFileSync(join(folder, 'serial'), '01\n')
    const files = `database=${folder}/index\nserial=${folder}/serial\nnew_certs_dir=${folder}\ndefault_md=sha256\npolicy=any\n`
    writeFileSync(join(folder, 'config'), `[ca]\ndefault_ca=own\n[own]\n${files}[any]\ncommonName=supplied\n`)
    const dates = ['-startdate', '20010101000000Z', '-enddate', '20011231235959Z']
    const request = join(this.#folder, `${name}.csr`)
    openssl(
      'ca',
      '-batch',
      '-notext',
      '-config',
      join(folder, 'config'),
      '-in',
      request,
      '-cert',
      cert,
      '-keyfile',
      key,
      '-out',
      pair.cert,
      ...dates,
    )
    return pair
  }
}

/** A pair with an RSA key, whose certificate is its own CA, for localhost and 127.0.0.1. */
export function selfSignedRsa(folder: string, name: string): Pair {
  const pair = pairIn(folder, name)
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', pair.key, '-out', pair.cert, '-days', '2', ...names)
  return pair
}

export function textsOf({ cert, key }: Pair): { readonly cert: Buffer; readonly key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) }
}

export function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`)
}

function pairIn(folder: string, name: string): Pair {
  return { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
}
