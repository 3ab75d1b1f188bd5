/**
 * Kubernetes gives each container variables for the services of its namespace (service links). A service that
 * is called `svc`, or `svc-…`, has variables that begin with `SVC_`. They are no options, and one may even
 * have the name of an option: `SVC_MCP_PORT=tcp://10.0.0.1:9000` for the service `svc-mcp`. The forms are in
 * the documentation of Kubernetes, "Service", "Environment variables"; those of Docker links are among them.
 * Pure; main thread, at start.
 */

const OF_SERVICE = /^SVC_(?:\w+_)?SERVICE_(?:HOST|PORT(?:_\w+)?)$/
const OF_PORT = /^SVC_(?:\w+_)?PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/
const OF_LINK = /^SVC_(?:\w+_)?PORT$/
const LINK = /^(?:tcp|udp|sctp):\/\//

/** The environment without the variables of service links. */
export function withoutServiceLinks(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name, value = '']) => {
    if (OF_SERVICE.test(name) || OF_PORT.test(name)) return false
    return !(OF_LINK.test(name) && LINK.test(value))
  })
  return Object.fromEntries(kept)
}
