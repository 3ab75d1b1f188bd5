/** Keys of documents that come from files. Pure. */

/**
 * The name of the file in lower case, with hyphens for white space, without its extension. Empty for a name
 * that has nothing else.
 */
export function keyOfFile(fileName: string): string {
  const at = fileName.lastIndexOf('.')
  const stem = at === -1 ? fileName : fileName.slice(0, at)
  return stem.toLowerCase().replace(/\s/g, '-')
}
