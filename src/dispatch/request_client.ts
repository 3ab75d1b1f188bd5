/** The client of a request, as its surface knows it. */

export interface RequestClient {
  /**
   * Returns the client's address, which may be behind trusted proxies; empty if it is not known. Called only
   * where a log line, an audit event or the throttle of logins needs it.
   */
  clientAddress(): string
  /** Returns what the client says that it is, of bounded length; empty if it is not known or not read. */
  userAgent(): string
}

/** A client of which everything is known. Empty: it is not. */
export class KnownClient implements RequestClient {
  constructor(
    readonly address: string,
    readonly agent: string,
  ) {}

  clientAddress(): string {
    return this.address
  }

  userAgent(): string {
    return this.agent
  }
}
