/**
 * The known name that an unknown one probably means. Case, hyphens and underscores do not count, and one edit
 * in four characters is a typo. Pure; only names that are refused or warned of are compared.
 */
import { editDistance } from '../engine/text/edit_distance.js'

/** One edit in so many characters of a name is a typo: `auth.enable`, `SVC_MDOE`. */
const CONFIG_TYPO_CHARS = 4
/** Longer names are not compared with the known ones: the longest of these has 42 characters. */
const CONFIG_NAME_CHARS_COMPARED = 64

/** Without what writers of YAML, variables and flags spell differently. Keeps the dots of a path. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\[\d+\]|[-_]/g, '')
}

/** @returns the most similar known name; undefined if none is similar */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const plain = plainName(name)
  if (plain.length > CONFIG_NAME_CHARS_COMPARED) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(plain.length / CONFIG_TYPO_CHARS)) + 1
  for (const candidate of known) {
    const distance = editDistance(plain, plainName(candidate))
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** The known variable that an unknown one means. `SVC_AUTH` means `SVC_AUTH_ENABLED`, and vice versa. */
export function similarVariable(name: string, known: readonly string[]): string | undefined {
  const switches = [`${name}_ENABLED`, name.replace(/_ENABLED$/, '')]
  const similar = similarName(
    name.replace('SVC_', ''),
    known.map((variable) => variable.replace('SVC_', '')),
  )
  return known.find((variable) => switches.includes(variable)) ?? (similar === undefined ? undefined : `SVC_${similar}`)
}

/**
 * The known YAML key that an unknown one means: its section's first key if it is a section (`auth: true`), a
 * similar key, or the only key with the same end (`jwtSecret`, `server.auth.enabled`).
 */
export function similarKey(key: string, known: ReadonlySet<string>): string | undefined {
  const plain = plainName(key)
  const keys = [...known]
  const ofSection = keys.filter((candidate) => plainName(candidate).startsWith(`${plain}.`))
  const byName = ofSection.find((candidate) => candidate.endsWith('.enabled')) ?? ofSection[0] ?? similarName(key, keys)
  if (byName !== undefined) return byName
  const sameEnd = keys.filter((candidate) => `.${plain}`.endsWith(`.${plainName(candidate)}`) || plainName(candidate).endsWith(`.${plain}`))
  return sameEnd.length === 1 ? sameEnd[0] : undefined
}
