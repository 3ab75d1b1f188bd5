/**
 * Who calls: the metadata and the address of a call, as the checks of credentials and the audit log see it.
 */
import type { Metadata } from '@grpc/grpc-js'
import type { CheckedRequest } from '../../access/checks.js'
import { addressKey } from '../../access/client_key.js'
import { AUDIT_USER_AGENT_CHARS_MAX } from '../../limits/process.js'
import { canonicalAddress } from '../../outbound/networks.js'

/** Of a call in progress, as the package gives it. */
interface CallHead {
  readonly metadata: Metadata
  getPeer(): string
}

export class GrpcCaller implements CheckedRequest {
  readonly authorization: string
  readonly apiKey: string

  constructor(
    readonly head: CallHead,
    /** `/mddb.MDDB/Get`. */
    readonly path: string,
  ) {
    const token = textIn(head.metadata, 'authorization')
    // Clients may send the token alone.
    this.authorization = token === '' || token.includes(' ') ? token : `Bearer ${token}`
    this.apiKey = textIn(head.metadata, 'x-api-key')
  }

  /** In canonical form; empty for a peer on a unix socket. */
  clientAddress(): string {
    const peer = this.head.getPeer()
    const at = peer.lastIndexOf(':')
    return at < 0 ? '' : (canonicalAddress(peer.slice(0, at).replace(/^\[|\]$/g, '')) ?? '')
  }

  addressKey(): string {
    return addressKey(this.clientAddress())
  }

  userAgent(): string {
    return textIn(this.head.metadata, 'user-agent').slice(0, AUDIT_USER_AGENT_CHARS_MAX)
  }
}

function textIn(metadata: Metadata, name: string): string {
  const [value] = metadata.get(name)
  return typeof value === 'string' ? value : ''
}
