// Time limits, retries and aborts, of the client and of one call.
import { MdsClient } from '@mds/client'

const client = new MdsClient({ baseUrl: process.env.MDS_URL ?? 'http://127.0.0.1:11023', timeoutMs: 10_000, retries: 5 })

const controller = new AbortController()
const health = await client.server.health({}, { signal: controller.signal, timeoutMs: 2_000, retries: 0 })
console.log(`the server is ${health.status}`)

controller.abort(new Error('no longer wanted'))
await client.server.health({}, { signal: controller.signal }).catch((error) => console.log(`aborted: ${error.message}`))
