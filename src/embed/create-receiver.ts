import type { Config, ConfigFile } from "../config/index.ts";
import { callOnce, pathMatcher, pathOf } from "../domain/index.ts";
import { createReadOrigin, type ReadOrigin } from "../http/exchange/index.ts";
import type { Exchange } from "../receive/index.ts";
import type { AdminFetch, AdminRequestInfo } from "./admin-fetch.ts";
import { embeddedConfig, servedPaths } from "./embedded-config.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import type { OpenedReceiver } from "./open-receiver.ts";
import { respondNotFound, UNAVAILABLE } from "./plain-responses.ts";
import type { FetchInfo, Receiver, ReceiverOptions, WorkDone, WorkOptions } from "./receiver.ts";

/** For the adapters: what a receiver knows of a request's way. */
export interface ApplicationReceiver extends Receiver {
  readonly originOf: ReadOrigin;
  /** Those of its addresses; a part such as `:shop` is a parameter. */
  readonly paths: readonly string[];
  readonly background: NonNullable<ReceiverOptions["background"]>;
}

/**
 * A receiver inside an application: a source of `config` has its address at `/api/<source>/callback`, below the path of
 * `baseUrl`. It opens, and writes, nothing before its first use, and reads no variable but those of `options`.
 * @throws ConfigError with every problem at once
 */
export function createReceiver(config: ConfigFile, options: ReceiverOptions = {}): Receiver {
  return new LazyReceiver(embeddedConfig(config, options), config, options);
}

class LazyReceiver implements ApplicationReceiver {
  readonly originOf: ReadOrigin;
  readonly paths: readonly string[];
  readonly background: NonNullable<ReceiverOptions["background"]>;
  readonly #config: Config;
  readonly #file: ConfigFile;
  readonly #options: ReceiverOptions;
  readonly #isServed: (path: string) => boolean;
  #opening: Promise<OpenedReceiver> | undefined;
  #opened: OpenedReceiver | undefined;
  /** Requests that came while it opened. */
  #waiting = 0;
  #isClosed = false;
  #adminOpening: Promise<AdminFetch> | undefined;

  constructor(config: Config, file: ConfigFile, options: ReceiverOptions) {
    this.#config = config;
    this.#file = file;
    this.#options = options;
    this.background = options.background ?? "loops";
    this.paths = servedPaths(config);
    this.#isServed = pathMatcher(this.paths);
    this.originOf = createReadOrigin(config.listen.trustProxy);
  }

  handle(exchange: Exchange): boolean {
    if (!this.#isServed(exchange.path ?? pathOf(exchange.target))) return false;
    if (this.#opened !== undefined && !this.#isClosed) this.#opened.start(exchange);
    else void this.#startOnceOpen(exchange);
    return true;
  }

  async fetch(request: Request, info: FetchInfo = {}): Promise<Response> {
    const exchange = new FetchExchange(request, info, this.originOf);
    if (!this.handle(exchange)) {
      respondNotFound(exchange);
      return exchange.response;
    }
    const response = await exchange.response;
    const opened = this.#opened;
    if (opened !== undefined) info.waitUntil?.(opened.afterResponse());
    return response;
  }

  async #startOnceOpen(exchange: Exchange): Promise<void> {
    if (this.#isClosed || this.#waiting >= this.#config.maxWaitingCallbacks) return respondUnavailable(exchange);
    this.#waiting += 1;
    try {
      (await this.#open()).start(exchange);
    } catch {
      // The log has it.
      respondUnavailable(exchange);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** A try that failed is not kept: the next request tries again. */
  #open(): Promise<OpenedReceiver> {
    if (this.#isClosed) return Promise.reject(new Error("the receiver is closed"));
    this.#opening ??= this.#tryOpen().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #tryOpen(): Promise<OpenedReceiver> {
    // All that handles events is loaded here, and not where an application starts.
    const { openReceiver } = await import("./open-receiver.ts");
    this.#opened = await openReceiver(this.#config, this.#file, this.#options);
    return this.#opened;
  }

  readonly admin = {
    fetch: async (request: Request, info?: AdminRequestInfo): Promise<Response> => {
      let admin: AdminFetch;
      try {
        const { assembled } = await this.#open();
        this.#adminOpening ??= import("./admin-fetch.ts").then((door) =>
          door.createAdminFetch(assembled, this.#options.admin),
        );
        admin = await this.#adminOpening;
      } catch {
        return new Response(UNAVAILABLE.body, UNAVAILABLE);
      }
      return admin.fetch(request, info);
    },
  };

  async ready(): Promise<void> {
    await this.#open();
  }

  async work(options: WorkOptions = {}): Promise<WorkDone> {
    return (await this.#open()).work(options);
  }

  async flush(): Promise<void> {
    await this.#opened?.flush();
  }

  readonly close = callOnce(async (): Promise<void> => {
    this.#isClosed = true;
    const opened = await this.#opening?.catch(() => undefined);
    await (await this.#adminOpening)?.close();
    await opened?.close();
  });
}

function respondUnavailable(exchange: Exchange): void {
  exchange.respond(UNAVAILABLE.status, UNAVAILABLE.headers, UNAVAILABLE.body, false);
}
