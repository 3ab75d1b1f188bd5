/**
 * Named places at which a test ends the process or makes a step fail. `MDS_FAIL_POINT=name` sends SIGKILL
 * there, `MDS_FAIL_POINT=name:error` throws. Without the variable nothing happens. Any thread.
 */
const [wanted, how] = (process.env.MDS_FAIL_POINT ?? '').split(':')

export function failPoint(name: string): void {
  if (name !== wanted) return
  if (how === 'error') throw new Error(`failed at ${name}, as asked`)
  process.kill(process.pid, 'SIGKILL')
}
