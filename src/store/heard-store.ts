/** A request as it is kept for `oncehook listen`. */
export interface NewHeard {
  /** One of its own for each request: one that is stored already is not stored again. */
  readonly requestId: string;
  readonly receivedAt: Date;
  /** The whole request, encrypted. */
  readonly sealed: Uint8Array;
}

export interface StoredHeard {
  /** Grows with every request; nothing ever becomes visible below an id that was seen. */
  readonly id: number;
  readonly requestId: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly sealed: Uint8Array;
}

/** What there is to fetch. */
export interface HeardExtent {
  /** Another name means other requests under the same ids: another database, or one in which nothing was kept for a while. */
  readonly log: string;
  /** 0 where there is none. */
  readonly newestId: number;
  /** Requests up to this id are deleted, or about to be. */
  readonly sweptTo: number;
}

/** What is kept; older requests go. */
export interface HeardLimits {
  readonly rows: number;
  readonly bytes: number;
  readonly since: Date;
}

/** Requests in the order in which they were kept, for whoever fetches them later, and never twice. */
export interface HeardStore {
  /** All of them or none. */
  append(requests: readonly NewHeard[]): Promise<void>;
  /** The next ones after an id: as many as fit into the bytes, but one at least where there is one. */
  after(id: number, most: { readonly rows: number; readonly bytes: number }): Promise<StoredHeard[]>;
  extent(): Promise<HeardExtent>;
  /** The id after which come the requests that were received since then. */
  idBefore(since: Date): Promise<number>;
  /** Deletes what is past the limits. @returns how many */
  sweep(limits: HeardLimits): Promise<number>;
  /** Deletes all of it, and forgets the log's name. @returns how many */
  clear(): Promise<number>;
}
