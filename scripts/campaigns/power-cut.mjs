/**
 * Simulates power cuts at many moments of recorded runs and reports every loss.
 * Usage: node scripts/campaigns/power-cut.mjs [CUTS=500].
 * A new recording is made every 50 cuts. Needs a build with tests. MDS_TEST_SEED repeats a run.
 */
import { cutPower, recordRun } from '../../dist/test/fault/power_cut/power_cut_run.js'
import { runSeed } from '../../dist/test/harness/random.js'

const CUTS_PER_RECORDING = 50
const cuts = Number(process.argv[2] ?? 500)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
let lossy = 0
for (let done = 0; done < cuts; done += CUTS_PER_RECORDING) {
  const { records, acknowledged, unseen } = await recordRun(seed + done, false)
  if (unseen.length > 0) throw new Error(`the shim did not see all of ${unseen.join(', ')}`)
  await cutPower(records, seed + done, Math.min(CUTS_PER_RECORDING, cuts - done), (cut, complaints) => {
    if (complaints.length === 0) return
    lossy++
    console.log(`seed ${seed + done}, cut at record ${cut} of ${records.length}:\n  ${complaints.join('\n  ')}`)
  })
  console.log(
    `${Math.min(done + CUTS_PER_RECORDING, cuts)} cuts, last recording ${acknowledged} acknowledged writes, ${lossy} cuts with a loss`,
  )
}
process.exitCode = lossy > 0 ? 1 : 0
