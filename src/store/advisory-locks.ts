/** PostgreSQL's advisory locks, which all processes on one database share; any fixed numbers, each different. */
export const ADVISORY_LOCKS = {
  migration: 7_140_231_901,
  /** Of appending captured requests. */
  captures: 7_140_231_902,
  /** Of copying into the database. */
  copy: 7_140_231_903,
  /** Of starting a backfill. */
  backfills: 7_140_231_904,
} as const;
