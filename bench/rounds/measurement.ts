/** One round of one entrant. Latencies in milliseconds, memory in MB. */
export interface Measurement {
  readonly case: string;
  readonly entrant: string;
  readonly round: number;
  /** Why this round counts for nothing; empty for one that counts. */
  readonly invalid: readonly string[];
  /** Callbacks a second that were answered as the case expects. */
  readonly rate?: number;
  readonly requests?: number;
  /** Answers a second of 503, where they are allowed. */
  readonly refusedRate?: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly p999?: number;
  /** User and system time of the server's processes for a callback, all threads, in microseconds; PostgreSQL's apart. */
  readonly cpu?: number;
  readonly databaseCpu?: number;
  /** KiB that a callback takes from V8's heaps; measured in the case `allocation`. */
  readonly allocated?: number;
  /** Resident after the load, and the most it ever was. */
  readonly rss?: number;
  readonly peak?: number;
  /** From the start of the process until it was ready: by the clock, and of the CPU. */
  readonly startMs?: number;
  readonly startCpuMs?: number;
  /** Resident at each second of the case `memory`. */
  readonly rssBySecond?: readonly number[];
  /** The last third of `rssBySecond` against the second third; above 1 it grows. */
  readonly rssGrowth?: number;
}
