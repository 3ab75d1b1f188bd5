/** Bounds of the dispatcher: queues, batches, and which lane a request goes to. */
import { KIB, MIB } from './units.js'

/**
 * Requests that are queued or in a lane, over all classes: the four queues (9 280) and the maximum in the
 * lanes (65 x 2 x 16 reads + 2 x 256 commands).
 */
export const SLOTS_MAX = 12_288
/**
 * Slots reserved for requests for further parts of answers: each lane has at most ANSWER_STREAMS_MAX (16)
 * answers in parts, and only the bulk lane and the long lane make them.
 */
export const SLOTS_FOR_PARTS = 64
/** Requests of class point that wait for a read lane. At 20 us each, 4 096 wait 80 ms. */
export const QUEUE_POINT_REQUESTS_MAX = 4096
/**
 * Requests of class search that wait for a read lane. At 2 ms each over 2 lanes, 1 024 wait 1 s, half of the
 * queue timeout.
 */
export const QUEUE_SEARCH_REQUESTS_MAX = 1024
/** Requests that wait for preparation or commit. */
export const QUEUE_WRITE_REQUESTS_MAX = 4096
/** Requests that wait for the bulk lane. Each may hold a whole body. */
export const QUEUE_HEAVY_REQUESTS_MAX = 64
/** Requests that wait for the long lane: a backup each, at most a few. */
export const QUEUE_LONG_REQUESTS_MAX = 16
/** How long a search may wait for a lane before it is refused (`SVC_SEARCH_QUEUE_TIMEOUT_MS`). */
export const SEARCH_QUEUE_MS_DEFAULT = 2000
/** Interval at which deadlines are checked. An answer is sent at most this much after its deadline. */
export const DEADLINE_SWEEP_MS = 50

// ---- Batches

/**
 * Requests of class point or prepare in one batch. With 200 us of work each, a cap of 16 kept p99 at 14 ms;
 * without a cap it was 147 ms.
 */
export const BATCH_REQUESTS_MAX = 16
/** Requests in progress of a surface in a thread of its own. Further ones are refused as busy. */
export const SURFACE_PORT_REQUESTS_MAX = 4096
/** Bytes of the inputs of these requests. */
export const SURFACE_PORT_BYTES_MAX = 256 * MIB
/**
 * Searches of a surface in a thread that are under way, for each read lane: a batch in the lane, and one
 * whose answers the thread takes. Further ones wait.
 */
export const SURFACE_PORT_SEARCHES_OF_LANE_MAX = 4
/** Searches of a surface in a thread that wait for their turn: five documents of GraphQL with 50 each. */
export const SURFACE_PORT_SEARCHES_WAITING_MAX = 256
/**
 * Bytes of large answers on their way to the thread of a surface, which it has not taken yet: two of the
 * longest, or those of 64 searches of 1 MB. Further ones become refusals.
 */
export const SURFACE_PORT_UNREAD_BYTES_MAX = 64 * MIB
/** Bytes of buffers of answers that a thread has given back, kept for its next ones: 16 of 1 MB. */
export const SURFACE_PORT_SPARE_BYTES_MAX = 16 * MIB
/**
 * Messages of the thread of a surface that are handled in one turn of the event loop, some 15 us each. One
 * document of GraphQL may ask for 50 searches.
 */
export const PORT_MESSAGES_OF_TURN_MAX = 64
/** How long buffers are kept while none is wanted. */
export const SPARE_BUFFERS_MS_MAX = 10_000
/** Bytes of a query string, beside a body: more than fits in the headers that uWebSockets.js accepts. */
export const HEAD_BYTES_MAX = 64 * KIB
/** A body of at least this size is transferred to another thread. Copying a shorter one takes less time. */
export const PORT_TRANSFER_BYTES_MIN = 64 * KIB
/**
 * Pause before the thread of a surface that has ended is started again, so that a thread that ends at once
 * costs at most one start each second.
 */
export const SURFACE_RESTART_MS = 1000
/** A thread that has been told to end is ended after this time. */
export const SURFACE_END_MS_MAX = 1000
/**
 * Bytes of a MessagePack input of an operation on the event loop. The longest that a client needs has one
 * name of a collection. 64 KiB of one-byte maps or of short keys take 7 ms once the code is compiled.
 */
export const LOOP_INPUT_BYTES_MAX = 64 * KIB
/**
 * Of the places of a queue, of the slots and of the answers in parts, each surface has one in this number
 * reserved, so that a flood on another surface leaves capacity for it: an eighth with up to four surfaces.
 */
export const SURFACE_SHARES_MIN = 8
/**
 * With more surfaces, one in this number times the surfaces: all that is reserved is at most half, and one
 * surface alone can use the other half and its own share.
 */
export const SURFACE_SHARES_KEPT = 2
/**
 * Up to this many point reads go to one worker instead of being divided between two: 8 x 20 us of work is
 * about the cost of waking a second thread.
 */
export const SHARE_POINTS_MIN = 8
/** Searches in one batch. At 1 to 2 ms each, the last one waits for at most 6 ms of others. */
export const BATCH_SEARCHES_MAX = 4
/** Commands in one task of the write lane: one group, one flush. */
export const BATCH_COMMANDS_MAX = 256
/**
 * Bytes of commands in one task of the write lane: about the amount that a slow disk writes in 20 ms of
 * flush. A larger command is sent alone.
 */
export const BATCH_COMMAND_BYTES_MAX = 4 * MIB
/**
 * A task of the write lane with at least this many bytes of commands is processed in slices or takes longer
 * than a flush. No further task is handed over while a smaller one runs: commands that arrive during it are
 * sent together after its flush, instead of as one group for the first command and another for the rest.
 */
export const LONG_COMMIT_BYTES_MIN = 512 * KIB
/**
 * A write of at most this size goes to an idle write lane unprepared. That saves one hop, 0.3 of 1.5 ms at
 * the best percentiles of one connection. The analysis of a larger write would delay the lane.
 */
export const DIRECT_WRITE_BYTES_MAX = 64 * KIB
/**
 * Bytes of requests, commands and objects that the front end buffers while it sends and fetches objects:
 * twice the bound of request bodies, because their clients may have disconnected. Above it: 503.
 */
export const SUSPENDED_BYTES_MAX = 512 * MIB
