/** The HTTP surface at a shutdown: an endless answer must not prevent the server from ending. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { FailureReports } from '../../../src/access/failure_reports.js'
import { type ListenAddress, loadConfig } from '../../../src/config/config.js'
import { Admission } from '../../../src/dispatch/admission.js'
import { successOf } from '../../../src/dispatch/answers/answers.js'
import type { Core } from '../../../src/dispatch/core.js'
import type { DispatchRequest } from '../../../src/dispatch/ticket.js'
import { FrontEnd } from '../../../src/surface/http/front_end.js'
import { authenticatorOf } from '../../../src/surface/http/loop_start.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { pushedText, TestProducer } from '../../harness/clients/exchange_server.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { ownTelemetry, SURFACE } from '../../harness/dispatching.js'

it('front end: once it stops listening, pushed answers end in order and the surface becomes idle', async () => {
  const producer = new TestProducer()
  const telemetry = ownTelemetry()
  const control = ControlBlock.create()
  control.phase = 'healthy'
  const core: Core = {
    admission: new Admission(control),
    submit: ({ sink }: DispatchRequest) => {
      sink.answer({ ...successOf(''), push: producer })
      return null
    },
    abandon: () => undefined,
    identify: () => Promise.resolve(null),
  }
  const config = loadConfig(['--http-addr', '127.0.0.1:0'], {})
  const authenticator = authenticatorOf(config, {
    control,
    identify: (asked) => core.identify(asked),
    failures: new FailureReports(() => undefined),
  })
  const frontEnd = new FrontEnd({ config, core, control, telemetry, surface: SURFACE, authenticator })
  const address = await frontEnd.listen(config.httpAddr)
  const socket = await RawSocket.open((address as ListenAddress & { kind: 'tcp' }).port)
  socket.write('GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await producer.until('attach')
  frontEnd.stopListening()
  await frontEnd.idle()
  assert.equal(pushedText(await socket.until((text) => pushedText(text).isComplete)).isComplete, true)
  assert.deepEqual(producer.events.all, ['attach', 'detach shutdown'])
  frontEnd.close()
})
