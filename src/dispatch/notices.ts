/**
 * Change notices of the write lane and their subscribers. A notice reports entries of the binlog, whichever
 * request, surface or replay wrote them (src/consumers/change_notices.ts). It says only that there was a
 * change; the subscriber reads the store. Front-end thread only.
 */
export class Notices {
  readonly #runs = new Map<string, (() => void)[]>()

  /**
   * Calls `run` after every change of this topic, once for several changes that are noticed together.
   * @param topic `setting/` and a kind of setting, `job/` and a kind of job, `sealing`, `move`, `drop`, or
   * `store`; `store` means that another store may be served than before, and everything is to be re-read
   */
  on(topic: string, run: () => void): void {
    this.#runs.set(topic, [...(this.#runs.get(topic) ?? []), run])
  }

  emit(topics: readonly string[]): void {
    for (const run of new Set(topics.flatMap((topic) => this.#runs.get(topic) ?? []))) run()
  }
}
