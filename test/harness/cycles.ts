/**
 * Detects import cycles. A file imports files; a folder imports what its files import outside it. Among the
 * children of every folder, files and folders alike, the imports must form no cycle. Each child can then be
 * read, tested and moved after those that it needs.
 */

/**
 * The child of `folder` that contains `path`: the file's own path, or a subfolder with a slash at its end.
 */
function childOf(folder: string, path: string): string | undefined {
  if (!path.startsWith(folder)) return undefined
  const slash = path.indexOf('/', folder.length)
  return slash < 0 ? path : path.slice(0, slash + 1)
}

/** All folders above the files, each with a slash at its end; `''` is the root. */
function foldersAbove(paths: Iterable<string>): string[] {
  const folders = new Set([''])
  for (const path of paths) {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) folders.add(path.slice(0, slash + 1))
  }
  return [...folders].sort()
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** The imports among the children of a folder, without those inside one child. */
function graphOfChildren(folder: string, edges: ReadonlyMap<string, readonly string[]>): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [file, imports] of edges) {
    const from = childOf(folder, file)
    if (from === undefined) continue
    for (const imported of imports) {
      const to = childOf(folder, imported)
      if (to === undefined || (to === from && from.endsWith('/'))) continue
      graph.set(from, (graph.get(from) ?? new Set()).add(to))
    }
  }
  return graph
}

/** The nodes that are reachable from `start` in one step or more. */
function reachableFrom(start: string, graph: Graph): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [start]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      waiting.push(next)
    }
  }
  return reached
}

/**
 * @param edges from a file to the files that it imports; paths with slashes. Files that form one unit (a
 *   header and its source) share one name. Files that import nothing may be left out.
 * @returns one line for each group of children that import each other: `folder: child, child`, sorted; a file
 *   that imports itself counts, too
 */
export function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[] {
  return foldersAbove(edges.keys()).flatMap((folder) => {
    const graph = graphOfChildren(folder, edges)
    const reachable = new Map([...graph.keys()].map((child) => [child, reachableFrom(child, graph)]))
    const circles = [...reachable]
      .filter(([child, reached]) => reached.has(child))
      .map(([child, reached]) => [...reached].filter((other) => reachable.get(other)?.has(child)).sort())
    return [...new Set(circles.map((circle) => `${folder === '' ? '.' : folder}: ${circle.join(', ')}`))].sort()
  })
}
