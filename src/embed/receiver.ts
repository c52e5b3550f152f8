import type { Log } from "../domain/index.ts";
import type { Exchange } from "../receive/index.ts";
import type { DatabaseSettings } from "../store/index.ts";
import type { AdminFetch, AdminOptions } from "./admin-fetch.ts";

export interface ReceiverOptions {
  /**
   * `postgres://user:password@host/database` or `sqlite:<file>`, a file of its own; else `DATABASE_URL`. A pool of `pg`, or
   * its settings, says where PostgreSQL is. Its connections are not used.
   */
  readonly database?: string | DatabaseSettings;
  /**
   * The https address under which platforms reach the application, with the path of the mount; else `CALLBACK_BASE_URL`.
   * A platform that signs its address needs it.
   */
  readonly baseUrl?: string;
  /** Variables by their names of docs/configuration.md; those of the process that begin with `ONCEHOOK_` when left out. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Gets the receiver's lines; by default standard output gets those of `LOG_LEVEL` ("warn") and above. */
  readonly logger?: Log;
  /**
   * "loops": the receiver itself looks for due retries, notifications and tokens until `close()`. It is the default.
   * "none": only `work()` does, for functions.
   */
  readonly background?: "loops" | "none";
  /** Who may use the admin API and its page, which are closed without it. */
  readonly admin?: AdminOptions;
}

/** Facts about a request that a `Request` does not have. */
export interface FetchInfo {
  /** The address of the client, or of the proxy before this process where `TRUST_PROXY` is set. */
  readonly clientAddress?: string;
  /** That of the request's address when left out. */
  readonly protocol?: "http" | "https";
  /** Path and query as they were sent: a `Request` normalises them, and some platforms sign them. */
  readonly target?: string;
  /** Keeps a function alive after its response, as that of Vercel or Cloudflare does. */
  readonly waitUntil?: (promise: Promise<unknown>) => void;
}

export interface WorkOptions {
  /** Nothing more starts after so many milliseconds; what runs then ends by `HANDLER_TIMEOUT_MS`. 20,000 when left out. */
  readonly budgetMs?: number;
  /** Nothing more starts once it has aborted. */
  readonly signal?: AbortSignal;
}

export interface WorkDone {
  /** Events and notifications that were tried. */
  readonly ran: number;
  /** Whether nothing that is due was left for the next call. */
  readonly isDone: boolean;
}

/** A receiver inside an application. It opens its database at its first use. */
export interface Receiver {
  /**
   * Takes a request, and responds to it later.
   * @returns false, and does nothing, where its path is not an address of this receiver
   */
  handle(exchange: Exchange): boolean;
  /** Responds to a request; 404 where its path is not an address of this receiver. Never rejects. */
  fetch(request: Request, info?: FetchInfo): Promise<Response>;
  /**
   * Opens the database, which the first request does otherwise.
   * @throws StartError, MigrationError or ConfigError
   * @throws StoreError from the failure of SQLite's disk on, after which only a new process goes on
   */
  ready(): Promise<void>;
  /**
   * Does what is due, once: accepted events, retries, notifications, alerts, tokens, retention. For functions, whose
   * `background` is "none": call it by a schedule.
   * @throws as `ready`; RangeError for a `budgetMs` out of range
   */
  work(options?: WorkOptions): Promise<WorkDone>;
  /** The admin API and its page, open to requests that `admin.authorize` of the options lets in; 404 without it. */
  readonly admin: Pick<AdminFetch, "fetch">;
  /** Resolves when the callback log and the counts of all responses so far are stored, or could not be. */
  flush(): Promise<void>;
  /** Ends what is under way and closes the database. Callable more than once; requests get 503 from then on. */
  close(): Promise<void>;
}
