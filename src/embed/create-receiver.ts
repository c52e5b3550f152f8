import type { Config, ConfigFile } from "../config/index.ts";
import { callOnce, errorReason, Opening, pathMatcher, pathOf } from "../domain/index.ts";
import { createReadOrigin, type ReadOrigin } from "../http/exchange/index.ts";
import type { Exchange } from "../receive/index.ts";
import type { AdminFetch, AdminRequestInfo } from "./admin-fetch.ts";
import type { ApplicationReceiver } from "./application-receiver.ts";
import { embeddedConfig, servedPaths } from "./embedded-config.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import { logDestination } from "./log-destination.ts";
import type { OpenedReceiver } from "./open-receiver.ts";
import { respondNotFound, UNAVAILABLE } from "./plain-responses.ts";
import type { FetchInfo, Receiver, ReceiverOptions, WorkDone, WorkOptions } from "./receiver.ts";

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
  readonly #opening = new Opening(() => this.#tryOpen());
  #opened: OpenedReceiver | undefined;
  /** Requests that came while it opened. */
  #waiting = 0;
  #isClosed = false;
  readonly #adminOpening = new Opening(() => this.#tryOpenAdmin());

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
    if (info.waitUntil !== undefined) this.#keepAlive(info.waitUntil);
    return response;
  }

  /** The event is handled: whatever the platform's function makes of it, the response stands. */
  #keepAlive(waitUntil: NonNullable<FetchInfo["waitUntil"]>): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    const rest = opened.afterResponse();
    try {
      waitUntil(rest);
    } catch (error) {
      this.#log("waitUntil failed; what a response leaves to be done may wait for the next call of work()", error);
    }
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

  #open(): Promise<OpenedReceiver> {
    if (this.#isClosed) return Promise.reject(new Error("the receiver is closed"));
    return this.#opening.open();
  }

  async #tryOpen(): Promise<OpenedReceiver> {
    // All that handles events is loaded here, and not where an application starts.
    const { openReceiver } = await this.#loaded(import("./open-receiver.ts"));
    this.#opened = await openReceiver(this.#config, this.#file, this.#options);
    return this.#opened;
  }

  /** Nothing else could say why a part of the package, which a bundler may have left out, cannot be loaded. */
  #loaded<Part>(part: Promise<Part>): Promise<Part> {
    return part.catch((error: unknown) => {
      this.#log("a part of oncehook cannot be loaded: is the package whole beside the application's bundle?", error);
      throw error;
    });
  }

  /** Before there is a logger, or beside it. */
  #log(msg: string, error: unknown): void {
    const line = { level: 50, time: new Date().toISOString(), err: errorReason(error), msg };
    logDestination(this.#options.logger).write(`${JSON.stringify(line)}\n`);
  }

  readonly admin = {
    fetch: async (request: Request, info?: AdminRequestInfo): Promise<Response> => {
      let admin: AdminFetch;
      try {
        await this.#open();
        admin = await this.#adminOpening.open();
      } catch {
        return new Response(UNAVAILABLE.body, UNAVAILABLE);
      }
      return admin.fetch(request, info);
    },
  };

  async #tryOpenAdmin(): Promise<AdminFetch> {
    const { assembled } = await this.#open();
    const { createAdminFetch } = await this.#loaded(import("./admin-fetch.ts"));
    return createAdminFetch(assembled, this.#options.admin);
  }

  async ready(): Promise<void> {
    (await this.#open()).assertIntact();
  }

  async work(options: WorkOptions = {}): Promise<WorkDone> {
    return (await this.#open()).work(options);
  }

  async flush(): Promise<void> {
    await this.#opened?.flush();
  }

  readonly close = callOnce(async (): Promise<void> => {
    this.#isClosed = true;
    const opened = await this.#opening.current?.catch(() => undefined);
    try {
      await (await this.#adminOpening.current)?.close();
    } finally {
      await opened?.close();
    }
  });
}

function respondUnavailable(exchange: Exchange): void {
  exchange.respond(UNAVAILABLE.status, UNAVAILABLE.headers, UNAVAILABLE.body, false);
}
