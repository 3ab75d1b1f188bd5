/**
 * The lower bound of the HTTP layer, as a peer: bare uWebSockets.js, which reads the body and answers with
 * the given number of bytes. A separate process, forked by get_add.ts.
 * Run: node bare_uws.js BYTES; prints its port.
 */

import { uWS } from '../src/surface/http/connections/uws.js'
const body = Buffer.alloc(Number(process.argv[2]), 0x20)

const app = uWS.App()
app.any('/*', (response) => {
  let gone = false
  response.onAborted(() => {
    gone = true
  })
  response.onData((_chunk, isLast) => {
    if (isLast && !gone) response.cork(() => response.end(body))
  })
})
app.listen('127.0.0.1', 0, (socket) => {
  if (socket === false) process.exit(1)
  console.log(uWS.us_socket_local_port(socket))
})
process.on('disconnect', () => process.exit(0))
