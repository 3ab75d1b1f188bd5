/**
 * Notices of the write lane that something has changed, and who wants them. They tell of entries of the
 * binlog, whichever request, surface or replay made them (src/consumers/change_notices.ts). A notice says
 * only that there was a change: who is told looks at the store. Front-end thread.
 */
export class Notices {
  readonly #runs = new Map<string, (() => void)[]>()

  /**
   * Calls `run` after every change of this topic, once for several that are noticed together.
   * @param topic `setting/` and a kind of setting, `job/` and a kind of job, `sealing`, `place`, `drop`, or
   * `store`: another store may be served than before, and everything is to be looked at
   */
  on(topic: string, run: () => void): void {
    this.#runs.set(topic, [...(this.#runs.get(topic) ?? []), run])
  }

  emit(topics: readonly string[]): void {
    for (const run of new Set(topics.flatMap((topic) => this.#runs.get(topic) ?? []))) run()
  }
}
