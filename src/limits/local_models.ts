/** Bounds of the local embedding models and of the thread that runs them. */
import { KIB } from './units.js'

/**
 * Bytes of a text that the local models read. A search text has 1 500 characters, and the rest of a very long
 * text hardly changes its mean. 15 ms of the static model.
 */
export const LOCAL_TEXT_BYTES_MAX = 256 * KIB
/**
 * Texts of one task of the thread: 5 ms of static vectors at 10 MB/s; 0.2 to 0.4 s of MiniLM, for which a
 * query may have to wait.
 */
export const STATIC_BATCH_MAX = 32
export const MINILM_BATCH_MAX = 4
/** Tokens of a text that MiniLM reads, as it was trained. Further ones are left out. */
export const MINILM_TOKENS_MAX = 256
/**
 * Characters of a text before tokenization. Its tokens have four letters on average; a text with longer ones
 * is truncated slightly early.
 */
export const MINILM_TEXT_CHARACTERS_MAX = 16 * MINILM_TOKENS_MAX
/**
 * V8 heap of the thread: texts and vectors of a batch, the vocabulary of the tokenizer. Excludes the models.
 */
export const LOCAL_MODEL_HEAP_MB_MAX = 256
