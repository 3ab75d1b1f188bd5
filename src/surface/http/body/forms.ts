/** Bodies with files that one event loop receives, bounded in number. Front-end thread only. */
import { resolve } from 'node:path'
import { floorOf } from '../../../base/free_space.js'
import type { Config } from '../../../config/config.js'
import type { FilesForm } from '../../../operations/row/http_form.js'
import type { FormOwner, SpoolPlace } from './received_files.js'
import { type FormConsumer, formConsumer, type FormHead } from './received_form.js'

/** Bodies of an event loop whose files are in the data directory, until they are answered. */
const FORMS_AT_ONCE_MAX = 64

export class Forms {
  #open = 0
  #place: SpoolPlace | undefined

  constructor(readonly config: Pick<Config, 'path' | 'diskReserveBytes' | 'encryption'>) {}

  /**
   * @returns the consumer of the body, which must be released once the request is answered; null: the request
   * was refused
   */
  open(form: FilesForm, head: FormHead, owner: FormOwner): FormConsumer | null {
    if (this.#open >= FORMS_AT_ONCE_MAX) {
      owner.formRefused('overloaded')
      return null
    }
    const consumer = formConsumer(form, head, this.#placeOf(), owner)
    if (consumer === undefined) {
      const types = ['multipart/form-data', ...(form.wholeTypes ?? [])].join(' or ')
      owner.formRefused('invalid', `invalid Content-Type: ${types} is expected`)
      return null
    }
    this.#open += 1
    return consumer
  }

  /** The request has been answered, or its client has gone. */
  release(consumer: FormConsumer): void {
    this.#open -= 1
    void consumer.release()
  }

  #placeOf(): SpoolPlace {
    const { path, diskReserveBytes, encryption } = this.config
    return (this.#place ??= { directory: resolve(path), keys: encryption, floorBytes: floorOf(path, diskReserveBytes) })
  }
}
