/**
 * Bounds of messages between threads: which data is copied into an envelope, copied into a block of shared
 * memory, or transferred.
 */
import { KIB, MIB } from './units.js'

/**
 * Bodies up to this size are copied into a batch; the buffer of a larger one is transferred. A transfer costs
 * about as much as copying 8 KB.
 */
export const INLINE_BODY_BYTES_MAX = 8 * KIB
/**
 * Answer bodies up to this size are copied into the envelope, which is in memory that both threads share. A
 * larger one gets a block of its own, which saves one copy. Both are shared memory: a page of ten whole
 * documents has some 60 KB, and with 3 000 transfers a second the event loop spent a third of its time on
 * marking garbage.
 */
export const INLINE_ANSWER_BYTES_MAX = 32 * KIB
/** UTF-16 units of the name of a principal: a host name or an address of mail has 254 characters at most. */
export const PRINCIPAL_NAME_CHARS_MAX = 256
/** Of the id of a fault: among a million faults, two have the same one with a probability of 3e-8. */
export const FAULT_ID_BYTES = 8
/** Finished answers that a lane holds back at most, to send them in one message. */
export const ANSWERS_COALESCED_MAX = 16
/** How long a lane holds back a finished answer at most, while others of its batch run. */
export const ANSWER_HOLD_US_MAX = 200
/** An envelope of answers is sent once it has this size. With one more answer it still fits a block. */
export const ENVELOPE_BYTES_WANTED = 128 * KIB
/**
 * Size of a block of the memory for envelopes: `ENVELOPE_BYTES_WANTED`, one more answer and its frame, or a
 * page of up to 150 documents of 5 KB. A larger batch is sent in a buffer of its own.
 */
export const ENVELOPE_BLOCK_BYTES = 768 * KIB
/**
 * Blocks for the answers of one lane. Its two tasks make eight pages of one block each before the event loop
 * has read the first, and their envelopes take as many. 12 MiB, of which untouched pages cost nothing.
 */
export const ENVELOPE_BLOCKS_PER_LANE = 16
/**
 * A large block: one answer of at most 1 600 documents of 5 KB. A larger answer is copied into a buffer of
 * its own, which is transferred.
 */
export const LARGE_BLOCK_BYTES = 8 * MIB
/**
 * Large blocks of one lane: the event loop reads one while the lane fills the other. 16 MiB, of which
 * untouched pages cost nothing.
 */
export const LARGE_BLOCKS_PER_LANE = 2
/** JSON of the embedding provider's identity that lanes have: name, model and variant, escaped. */
export const EMBEDDING_IDENTITY_BYTES_MAX = 4096
