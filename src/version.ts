/** Version of the interface that this service offers, as every surface reports it; fixed by the contract. */
export const INTERFACE_VERSION = '2.9.17'
