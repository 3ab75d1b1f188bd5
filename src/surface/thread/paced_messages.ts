/**
 * Messages of a port, a bounded number in one turn of the event loop. Node.js itself delivers all that have
 * come, some thousands, and no socket is served between them.
 */
import type { MessagePort } from 'node:worker_threads'

/**
 * Messages of the thread of a surface that are handled in one turn of the event loop, some 15 us each. One
 * document of GraphQL may ask for 50 searches.
 */
export const PORT_MESSAGES_OF_TURN_MAX = 64

/**
 * Starts the port.
 * @param take receives the messages in their order
 * @returns stops: `take` is not called any more
 */
export function paceMessages<Message>(port: MessagePort, take: (message: Message) => void): () => void {
  let left = PORT_MESSAGES_OF_TURN_MAX
  let isStopped = false
  const onMessage = (message: Message): void => {
    left -= 1
    if (left === 0) {
      // A port without a listener keeps its messages.
      port.off('message', onMessage)
      setImmediate(goOn)
    }
    take(message)
  }
  const goOn = (): void => {
    left = PORT_MESSAGES_OF_TURN_MAX
    if (!isStopped) port.on('message', onMessage)
  }
  goOn()
  return () => {
    isStopped = true
    port.off('message', onMessage)
  }
}
