/**
 * The apps of one event loop that serves HTTPS. An acceptor only accepts connections. For each pair of
 * certificate and key, an app serves the connections accepted while the pair was in force. A new pair leaves
 * the listening socket open, so no connection in its queue is lost. One object an event loop. Decision:
 * docs/decisions/operation/tls.md.
 */
import type { TemplatedApp } from 'uWebSockets.js'
import type { TlsFiles } from '../../../wire/tls_files.js'
import { TLS12_CIPHERS } from '../../tls/ciphers.js'
import { uWS } from './uws.js'

/** Methods that are missing in the type declarations. */
interface Descriptors {
  getDescriptor(): number
  addChildAppDescriptor(descriptor: number): void
  removeChildAppDescriptor(descriptor: number): void
}
type App = TemplatedApp & Descriptors

export class TlsApps {
  /** It has no certificate: each connection is handed to the app in force, on the same loop. */
  readonly acceptor = uWS.SSLApp({}) as App
  readonly #serve: (app: TemplatedApp) => void
  #present: App
  /** The number of open connections of each app that has any. */
  readonly #connected = new Map<App, number>()

  /** @param serve sets the routes of an app */
  constructor(files: TlsFiles, serve: (app: TemplatedApp) => void) {
    this.#serve = serve
    this.#present = this.#newApp(files)
    this.acceptor.addChildAppDescriptor(this.#present.getDescriptor())
  }

  /** Open connections keep the pair with which they were accepted. @throws if the new one is not usable */
  renew(files: TlsFiles): void {
    const former = this.#present
    this.#present = this.#newApp(files)
    this.acceptor.addChildAppDescriptor(this.#present.getDescriptor())
    this.acceptor.removeChildAppDescriptor(former.getDescriptor())
  }

  /** Closes the socket that listens, and every connection. */
  close(): void {
    this.acceptor.close()
    for (const app of this.#connected.keys()) app.close()
  }

  #newApp({ cert, key, clientCa }: TlsFiles): App {
    const options = { cert_file_name: cert, key_file_name: key, ssl_ciphers: TLS12_CIPHERS }
    const app = uWS.SSLApp(clientCa === null ? options : { ...options, ca_file_name: clientCa }) as App
    app.filter((_response, change) => this.#count(app, Math.sign(change)))
    this.#serve(app)
    return app
  }

  #count(app: App, change: number): void {
    const connections = (this.#connected.get(app) ?? 0) + change
    if (connections > 0) this.#connected.set(app, connections)
    else this.#connected.delete(app)
  }
}
