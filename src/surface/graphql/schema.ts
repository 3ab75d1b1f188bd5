/** The schema of GraphQL that this server offers: the contract's, and what the rows add. Pure data. */
import { ADDITIONS } from './additions.js'
import { CONTRACT } from './contract.js'

export const SCHEMA = CONTRACT + ADDITIONS
