/** TCP ports of the loopback address, for programs that have to be told theirs. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A port that nobody listens on; another program may take it before the caller does. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Whether somebody listens on the port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return await new Promise((resolve) => {
    const end = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.on('connect', end(true)).on('error', end(false))
  })
}

const FIRST_EPHEMERAL = 32_768
const PORTS_BELOW = 8_000

/** As `freePort`, but one that the kernel gives to no connection, so that a server can come back to it. */
export async function lastingPort(): Promise<number> {
  const port = FIRST_EPHEMERAL - 1 - Math.floor(Math.random() * PORTS_BELOW)
  return (await isListening(port)) ? await lastingPort() : port
}
