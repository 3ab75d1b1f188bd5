/** Written by scripts/build-playground.mjs: the policy of playground.html.gz, with its hashes. */
// prettier-ignore
export const PLAYGROUND_POLICY =
  "default-src 'none'; script-src 'sha256-l983X/tIJQsuhiAsajAe8GFSgyP0JRqbFepzGNErgg4='; worker-src blob:; style-src 'sha256-rClkNqEV3jctmcBQDYDHGY4+R1UeETSu+Wnf3X04Uxc=' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; style-src-elem 'sha256-rClkNqEV3jctmcBQDYDHGY4+R1UeETSu+Wnf3X04Uxc=' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; style-src-attr 'unsafe-inline'; font-src data:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
