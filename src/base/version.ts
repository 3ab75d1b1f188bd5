/** Version of the service's interface, as every surface reports it; fixed by the contract. */
export const INTERFACE_VERSION = '2.9.17'
/** Version of this implementation, as in package.json. */
export const BUILD_VERSION = '0.1.0'

/** The output of `--version`. */
export function versionText(): string {
  return `mds ${BUILD_VERSION} (interface ${INTERFACE_VERSION}, node ${process.version.slice(1)})`
}
