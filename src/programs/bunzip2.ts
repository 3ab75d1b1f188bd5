/**
 * The program of a process that decompresses bzip2 from its standard input to its standard output, for
 * machines without `bzip2`. It holds a block of 900 KB at a time. A damaged or cut-off input is exit code 1,
 * after the blocks before the fault.
 */
import { createRequire } from 'node:module'

const unbzip2 = createRequire(import.meta.url)('unbzip2-stream') as () => NodeJS.ReadWriteStream

const output = unbzip2()
output.on('error', () => {
  process.exitCode = 1
  process.stdin.destroy()
})
process.stdout.on('error', () => process.exit(1))
process.stdin.pipe(output).pipe(process.stdout)
