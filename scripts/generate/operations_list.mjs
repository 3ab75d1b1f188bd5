/** test/golden/operations.json: names, effects and routes, which tests compare with what a server shows. */

export function operationsList({ operations }) {
  const lines = operations.map(({ name, effect, http }) => {
    const routes = (http?.routes ?? []).map(({ method, path }) => `${method} ${path}`)
    return `  ${JSON.stringify({ name, effect, routes })}`
  })
  return { 'test/golden/operations.json': `[\n${lines.join(',\n')}\n]\n` }
}
