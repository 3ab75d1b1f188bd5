/** The receiver of bench/surfaces/webhooks.ts: answers each post at once, and tells when each has come. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let times: (readonly [key: string, at: number])[] = []

const server = createServer((request, response) => {
  const at = Date.now()
  let body = ''
  request.on('data', (part: Buffer) => (body += part.toString('latin1')))
  request.on('end', () => {
    times.push([/"key":"([^"]*)"/.exec(body)?.[1] ?? '', at])
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', () => {
  const told = times
  times = []
  process.send?.(told)
})
