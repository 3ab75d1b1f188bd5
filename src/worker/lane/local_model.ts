/**
 * The task of the local embedding provider's thread, run by Piscina. The first task loads the requested
 * model. Every task embeds texts. Nothing of a lane is loaded here. Started by
 * background/embedding/local_provider.ts, one thread per model.
 */
import { loadMinilm, type Minilm } from '../../engine/models/minilm.js'
import { loadStaticModel, type StaticModel } from '../../engine/models/static_model.js'
import type { LocalTask } from '../../wire/messages/local_task.js'

let model: StaticModel | Minilm | undefined

/**
 * @returns one vector per text, in order, in one array. Throws if the model cannot be loaded; the next task
 * tries again.
 */
export async function embedTexts({ model: name, texts }: LocalTask): Promise<Float32Array> {
  model ??= name === 'minilm' ? await loadMinilm() : loadStaticModel()
  return model.embed(texts)
}
