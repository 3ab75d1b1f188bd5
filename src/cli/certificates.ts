/**
 * How the CLI proves a server's certificate and presents its own. Without these files, Node's own trust
 * applies: public CAs, and those of `NODE_EXTRA_CA_CERTS`.
 */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { CommandError } from './terminal.js'

interface CertificateOptions {
  /** PEM file of the CAs that may sign the server's certificate, instead of the public ones. */
  readonly ca?: string
  readonly clientCert?: string
  readonly clientKey?: string
}

/** Adds the options. The environment is for scripts. */
export function withCertificates(command: Command, { MDS_CA, MDS_CLIENT_CERT, MDS_CLIENT_KEY }: NodeJS.ProcessEnv): Command {
  return command
    .option('--ca <file>', 'PEM file of the CA of an https server; else MDS_CA, else the public CAs', MDS_CA)
    .option('--client-cert <file>', 'PEM file of the certificate of this client; else MDS_CLIENT_CERT', MDS_CLIENT_CERT)
    .option('--client-key <file>', 'PEM file of its key; else MDS_CLIENT_KEY', MDS_CLIENT_KEY)
}

/**
 * Has every later request of this process use the files. The client with these options takes time to load, so
 * it is loaded only if there are any.
 * @throws CommandError if a file can't be read
 */
export async function useCertificates({ ca, clientCert, clientKey }: CertificateOptions): Promise<void> {
  const files = Object.entries({ ca, cert: clientCert, key: clientKey }).filter(([, path]) => path !== undefined && path !== '')
  if (files.length === 0) return
  const connect = Object.fromEntries(files.map(([name, path]) => [name, read(path as string)]))
  const { Agent, install, setGlobalDispatcher } = await import('undici')
  setGlobalDispatcher(new Agent({ connect }))
  install()
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new CommandError(`${path} can't be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`)
  }
}
