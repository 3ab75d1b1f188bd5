/** Signatures of deliveries, compared with the example of Standard Webhooks. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { signedHeaders } from '../../../src/outbound/webhook_signature.js'

it('signature: it is that of the published example, and with two secrets there are two', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = Buffer.from('{"test": 2432232314}')
  const one = signedHeaders('msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body, [secret])
  assert.deepEqual(one, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const both = signedHeaders('a', 1, body, [other, secret])['webhook-signature']?.split(' ')
  assert.deepEqual([both?.length, both?.[1]], [2, signedHeaders('a', 1, body, [secret])['webhook-signature']])
})
