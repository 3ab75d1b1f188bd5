/** Keys of documents that come from the web. Pure. */
import { posix } from 'node:path'
import { serviceError } from '../errors.js'

/**
 * The last segment of the URL's path, decoded, without its extension and whatever follows the path.
 * @throws ServiceError 400 for a text that is no URL, or that has no path
 */
export function keyOfUrl(url: string): string {
  const segment = URL.canParse(url) ? new URL(url).pathname.split('/').findLast((each) => each !== '') : undefined
  if (segment === undefined) throw serviceError('keyNotDerived')
  const name = decoded(segment)
  return name.slice(0, name.length - posix.extname(name).length)
}

/** A segment with a stray percent sign is taken as it is. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
