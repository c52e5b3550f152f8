/** A lease: `owner` may work on the row until `until`, unless somebody took it over after that. */
export interface Lease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
}
