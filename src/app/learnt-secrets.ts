import { isDeepStrictEqual } from "node:util";
import type { NamedSource } from "../config/index.ts";
import { type Clock, createSparingLog, type Log, type SparingLog } from "../domain/index.ts";
import type { Encryptor } from "../encryption/index.ts";
import { createAllowList } from "../http/index.ts";
import { createPoller, type Poller } from "../poller/index.ts";
import type { SourceEnvironment } from "../sources/index.ts";
import type { Store } from "../store/index.ts";

/** A forged signature makes us look once in so long. */
const LOOK_EVERY_MS = 1_000;
/** For how long an operator opens a source for another secret. */
export const RELEARN_MINUTES = 15;
/** Of a fingerprint: enough to tell a few secrets apart. */
const SHOWN_CHARACTERS = 12;
const NONE: readonly string[] = [];

export const sourceSecretContext = (source: string): string => `source_secret\n${source}`;

type Learning = NonNullable<SourceEnvironment["learning"]>;

interface Dependencies {
  readonly store: Pick<Store, "sourceSecrets">;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
  /** Tells secrets apart, and gives nothing away. */
  readonly fingerprint: (source: string, secret: string) => string;
}

/** Secrets that platforms chose themselves: kept encrypted, and known to every process of this database. */
export class LearntSecrets {
  readonly #deps: Dependencies;
  readonly #sparing: SparingLog;
  readonly #poller: Poller;
  #learnt: ReadonlyMap<string, readonly string[]> = new Map();
  #fingerprints: ReadonlySet<string> = new Set();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #loaded: Promise<void> = Promise.resolve();

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#sparing = createSparingLog(deps.log, deps.clock);
    this.#poller = createPoller(
      () => this.#look(),
      () => {},
    );
  }

  /** Of every source, for the masks of logs. */
  all(): string[] {
    return [...this.#learnt.values()].flat();
  }

  /** The newest first; the same array until there are others. */
  of(source: string): readonly string[] {
    return this.#learnt.get(source) ?? NONE;
  }

  /** Knows what was learnt, and opens each source that has no secret at all. */
  async begin(sources: readonly Pick<NamedSource, "name" | "definition">[]): Promise<void> {
    const { store, log } = this.#deps;
    const learning = sources.filter(({ definition }) => definition.learns);
    if (learning.length === 0) return;
    await this.#load();
    for (const { name, definition } of learning) {
      if (definition.secrets.length > 0) await store.sourceSecrets.closeUntilKnown(name);
      if (definition.secrets.length > 0 || this.of(name).length > 0) continue;
      await store.sourceSecrets.openUntilKnown(name);
      log.warn({ source: name }, "the source has no secret yet: it takes the first one that is sent to it");
    }
  }

  /** What a source gets of it. */
  learning(source: string): Learning {
    return {
      learntSecrets: () => this.of(source),
      lookForSecrets: () => this.#lookSometimes(),
      learn: (secret, address) => this.#learn(source, secret, address),
    };
  }

  /** Opens a source for one more secret. @param from the only address or network that may send it @returns until when */
  async relearn(source: string, forgets: boolean, from?: string): Promise<Date> {
    const { store, clock } = this.#deps;
    const until = new Date(clock.now().getTime() + RELEARN_MINUTES * 60_000);
    await store.sourceSecrets.open(source, until, { forgets, from });
    await this.#load();
    return until;
  }

  /** Looks for what other processes have learnt and forgotten. @returns stops it */
  start(everyMs: number): () => Promise<void> {
    this.#poller.start(everyMs);
    return this.#poller.stop;
  }

  async #learn(source: string, secret: string, address = ""): Promise<boolean> {
    const { store, encryptor, clock, log, fingerprint } = this.#deps;
    const own = fingerprint(source, secret);
    // The platform asks again where its answer was lost.
    if (this.#fingerprints.has(own)) return true;
    const encrypted = encryptor.encrypt(Buffer.from(secret), sourceSecretContext(source));
    const fields = { source, address, fingerprint: own.slice(0, SHOWN_CHARACTERS) };
    const isFrom = (network: string) => createAllowList([network])(address);
    const isKept = await store.sourceSecrets.keep(
      { source, fingerprint: own, encrypted },
      clock.now(),
      isFrom,
    );
    if (isKept) {
      log.info(fields, "a platform has sent its secret, which verifies its callbacks from now on");
      await this.#load();
      return true;
    }
    // Another process may have learnt this one.
    await this.#lookSometimes();
    if (this.#fingerprints.has(own)) return true;
    const message =
      "a secret was sent, and not taken: another one was first, or none is expected. If this one is the platform's, open the " +
      "source for it alone: oncehook sources relearn --forget --from <its address>";
    this.#sparing("warn", { fields, message, cause: `${source} ${address}` });
    return false;
  }

  #lookSometimes(): Promise<void> | undefined {
    if (this.#looking === undefined && performance.now() - this.#lookedAt < LOOK_EVERY_MS) return undefined;
    this.#lookedAt = performance.now();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    try {
      await this.#load();
    } catch (err) {
      this.#sparing("warn", { fields: { err }, message: "looking for secrets that platforms sent failed" });
    }
  }

  /** One after the other, so that what was read first is not kept last. */
  #load(): Promise<void> {
    const loaded = this.#loaded.then(() => this.#loadNow());
    this.#loaded = loaded.catch(() => {});
    return loaded;
  }

  async #loadNow(): Promise<void> {
    const { store, fingerprint } = this.#deps;
    const found = new Map<string, string[]>();
    for (const { source, encrypted } of await store.sourceSecrets.list())
      found.set(source, [...(found.get(source) ?? []), ...this.#decrypted(source, encrypted)]);
    const fingerprints = [...found].flatMap(([name, all]) => all.map((secret) => fingerprint(name, secret)));
    this.#fingerprints = new Set(fingerprints);
    // A source whose secrets are the same keeps its list, and so its scheme.
    const kept = [...found].map(([name, all]) => {
      return [name, isDeepStrictEqual(all, this.of(name)) ? this.of(name) : all] as const;
    });
    this.#learnt = new Map(kept);
  }

  #decrypted(source: string, encrypted: Uint8Array): string[] {
    try {
      const bytes = this.#deps.encryptor.decrypt(encrypted, sourceSecretContext(source));
      return [Buffer.from(bytes).toString("utf8")];
    } catch (err) {
      const message = "a secret that a platform sent cannot be decrypted, and verifies nothing";
      this.#sparing("error", { fields: { err, source }, message });
      return [];
    }
  }
}
