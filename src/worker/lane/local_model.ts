/**
 * What the thread of the local embedding provider runs, by Piscina: loads the model that it is asked for at
 * its first task and makes vectors of texts. Nothing of a lane is loaded here. Started by
 * background/embedding/local_provider.ts, one thread a model.
 */
import { loadMinilm, type Minilm } from '../../engine/minilm.js'
import { loadStaticModel, type StaticModel } from '../../engine/static_model.js'
import type { LocalTask } from '../../wire/local_task.js'

let model: StaticModel | Minilm | undefined

/**
 * @returns one vector a text, in their order, in one array. Throws where the model can't be loaded; the next
 * task tries again
 */
export async function embedTexts({ model: name, texts }: LocalTask): Promise<Float32Array> {
  model ??= name === 'minilm' ? await loadMinilm() : loadStaticModel()
  return model.embed(texts)
}
