/** How a socket listens on the address of the server: alone, or together with the other event loops. */
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { formatAddress, type ListenAddress } from '../../../config/config.js'
import { uWS } from './uws.js'

// LIBUS_LISTEN_EXCLUSIVE_PORT. The package declares it as an enum but does not export the enum. The default
// shares the port with any other socket that asks for it, also of another process: the kernel divides the
// connections between them.
const LISTEN_EXCLUSIVE = 1
const LISTEN_SHARED = 0

/** The overload of `listen` that is missing in the type declarations. */
interface ListenWithHost {
  listen(host: string, port: number, options: number, callback: (socket: us_listen_socket | false) => void): void
}

/**
 * @param isShared whether other event loops listen on the port, too
 * @throws Error with a one-line message if the address is not available
 */
export async function listenOn(app: TemplatedApp, address: ListenAddress, isShared: boolean): Promise<us_listen_socket> {
  const options = isShared ? LISTEN_SHARED : LISTEN_EXCLUSIVE
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    if (address.kind === 'unix') app.listen_unix(resolve, address.path)
    else if (address.host === '') app.listen(address.port, options, resolve)
    else (app as unknown as ListenWithHost).listen(address.host, address.port, options, resolve)
  })
  if (socket !== false) return socket
  const reason = address.kind === 'unix' ? 'its folder does not exist, or may not be written' : 'in use, or not an address of this machine'
  throw new Error(`${formatAddress(address)} can't be listened on: ${reason}`)
}

/**
 * Makes sure that no other server listens on an address which several event loops are to share: it would
 * share it with this one, too. Port 0 becomes a free port, because a socket that asks for any port does not
 * share it.
 * @throws Error with a one-line message if the address is not available
 */
export async function claim(address: ListenAddress): Promise<ListenAddress> {
  if (address.kind === 'unix') return address
  const socket = await listenOn(uWS.App(), address, false)
  const port = uWS.us_socket_local_port(socket)
  uWS.us_listen_socket_close(socket)
  return { ...address, port }
}
