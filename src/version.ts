/** Version of the interface that this service offers, as every surface reports it; fixed by the contract. */
export const INTERFACE_VERSION = '2.9.17'
/** Version of this implementation, as in package.json. */
export const BUILD_VERSION = '0.1.0'

/** What `--version` says. */
export function versionText(): string {
  return `mds ${BUILD_VERSION} (interface ${INTERFACE_VERSION}, node ${process.version.slice(1)})`
}
