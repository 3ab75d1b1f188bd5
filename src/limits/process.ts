/** Bounds of the process as a whole: configuration, supervision, health and shutdown. */
import { GIB, KIB } from './units.js'

/** Bytes of a configuration file. The largest sensible one is under 10 KB. */
export const CONFIG_FILE_BYTES_MAX = 256 * KIB
/** YAML aliases in a configuration file or in frontmatter. An alias bomb needs more. */
export const YAML_ALIASES_MAX = 50
/**
 * Warnings about the configuration that are collected. A container may set hundreds of unrelated variables.
 */
export const CONFIG_WARNINGS_MAX = 100
/** Unknown names that one refusal names. A file for another program may have hundreds. */
export const CONFIG_REFUSALS_NAMED_MAX = 8
/** One edit in so many characters of a name is a typo: `auth.enable`, `SVC_MDOE`. */
export const CONFIG_TYPO_CHARS = 4
/** Longer names are not compared with the known ones: the longest of these has 42 characters. */
export const CONFIG_NAME_CHARS_COMPARED = 64
/**
 * On up to this many cores, each thread collects its own garbage: lanes and event loop keep the cores busy.
 */
export const GC_HELPERS_CORES_MIN = 4
/** Seconds between SIGTERM and the forced end (`SVC_SHUTDOWN_TIMEOUT_SEC`). */
export const SHUTDOWN_SECONDS_DEFAULT = 15
/** `SVC_DRAIN_MS`: the slowest balancers look every half minute, and twice. Orchestrators wait no longer. */
export const DRAIN_MS_MAX = 300_000
/**
 * After `SVC_DRAIN_MS`, how long requests on open connections are still served, at most: half a second after
 * the last one has come is usual (`REQUEST_ON_ITS_WAY_MS`), and a long answer is not waited for here.
 */
export const LAST_REQUESTS_MS_MAX = 3_000
/** Time for answers to leave their sockets after a fatal fault, before the process kills itself. */
export const LAST_WORDS_MS = 50

// ---- Supervisor

/** A server that ends within this time of its start has failed quickly. The next start would usually fail. */
export const SUPERVISOR_QUICK_MS = 10_000
/**
 * Pause before a restart after a quick failure. It doubles with each further one. The number of restarts is
 * unlimited: the cause (a full disk, too little memory) may be gone in an hour.
 */
export const SUPERVISOR_BACKOFF_MS_FIRST = 1_000
export const SUPERVISOR_BACKOFF_MS_MAX = 60_000

// ---- Health

/**
 * Interval at which the gauges of disk, warnings and backups are set: below 15 s, the usual scrape interval.
 */
export const HEALTH_WATCH_MS = 5_000
/**
 * How long /health and /v1/system/info reuse system values. A storm of probes costs one statfs in this time.
 */
export const PROBE_CACHE_MS = 1000
/** Free bytes below which /health warns. A group commit and a segment merge need space. */
export const FREE_BYTES_WARNING = GIB

// ---- Priorities of threads: nice values of Linux, where five more are a third of the weight

/** Threads of other surfaces than HTTP. Event loops of HTTP have LOOP_NICE, lanes 0. */
export const SURFACE_THREAD_NICE = 5
/** The lowest priority of the machine: a hash takes 0.2 s of a core. */
export const PASSWORD_THREAD_NICE = 19

// ---- Descriptors

/**
 * Descriptors that connections may not use: eight threads that start later x 8, the files of a backup and a
 * restore, 64 outgoing requests, and those accepted at the same moment on 16 loops.
 */
export const DESCRIPTORS_RESERVED = 192
/** A lower limit is a warning at start: 1 024 connections of one client, and as many of others. */
export const DESCRIPTORS_WANTED_MIN = 4_096
/** How long refusals must have ceased before the log tells of new ones. */
export const DESCRIPTORS_WARN_MS = 60_000
