import { isDeepStrictEqual } from "node:util";
import type { RelearnRequest, RelearnView } from "../admin/index.ts";
import type { NamedSource } from "../config/index.ts";
import {
  type Clock,
  createSparingLog,
  createWindowLimit,
  type Log,
  MINUTE_MS,
  type SparingLog,
  WindowMap,
} from "../domain/index.ts";
import type { SecretValues } from "../observability/index.ts";
import type { SourceEnvironment } from "../sources/index.ts";
import type { Store, StoredSourceSecret } from "../store/index.ts";
import { createAllowList, createPoller, type Encryptor, type Poller } from "../system/index.ts";

/** A forged signature makes us look once in so long. */
const LOOK_EVERY_MS = 1_000;
/** For how long an operator opens a source for another secret. */
const RELEARN_MINUTES = 15;
/** Of a fingerprint: enough to tell a few secrets apart. */
const SHOWN_CHARACTERS = 12;
/** Anybody can send a secret, and each is a write: of an address so many are noted. */
const OFFERS_A_MINUTE = 20;
const MAX_OFFERED_BYTES = 1_024;
const NONE: readonly string[] = [];

export const sourceSecretContext = (source: string): string => `source_secret\n${source}`;

type Learning = NonNullable<SourceEnvironment["learning"]>;

export interface LearntSecretsDependencies {
  readonly store: Pick<Store, "sourceSecrets">;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
  /** Of the masks, which get each secret. */
  readonly secretValues: Pick<SecretValues, "add">;
  /** Tells secrets apart, and gives nothing away. */
  readonly fingerprint: (source: string, secret: string) => string;
}

/** Secrets that platforms chose themselves: kept encrypted, and known to every process of this database. */
export class LearntSecrets {
  readonly #deps: LearntSecretsDependencies;
  readonly #sparing: SparingLog;
  readonly #poller: Poller;
  #learnt: ReadonlyMap<string, readonly string[]> = new Map();
  #fingerprints: ReadonlySet<string> = new Set();
  /** By source and address. */
  readonly #senders = new WindowMap<{ resetAt: Date; mayOffer: ReturnType<typeof createWindowLimit> }>(1_000);
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #loaded: Promise<void> = Promise.resolve();

  constructor(deps: LearntSecretsDependencies) {
    this.#deps = deps;
    this.#sparing = createSparingLog(deps.log, deps.clock);
    this.#poller = createPoller(
      () => this.#look(),
      () => {},
    );
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

  /** The part of one source. */
  learning(source: string): Learning {
    return {
      learntSecrets: () => this.of(source),
      lookForSecrets: () => this.#lookSometimes(),
      learn: (secret, address) => this.#learn(source, secret, address),
    };
  }

  /** Opens a source for one more secret, or takes one that was sent. @returns `unknown` where none has the fingerprint */
  async relearn(source: string, { fingerprint, ...request }: RelearnRequest): Promise<RelearnView | "unknown"> {
    const { sourceSecrets } = this.#deps.store;
    const now = this.#deps.clock.now();
    const until = new Date(now.getTime() + RELEARN_MINUTES * 60_000);
    if (fingerprint === undefined) await sourceSecrets.open(source, until, request);
    else if (!(await sourceSecrets.choose(source, fingerprint, request, now))) return "unknown";
    await this.#load();
    const offered_secrets = await this.offered(source);
    return { until: fingerprint === undefined ? until.toISOString() : null, offered_secrets };
  }

  /** The secrets that were sent to a source in the last day, by their fingerprints. */
  async offered(source: string): Promise<RelearnView["offered_secrets"]> {
    const { store, clock } = this.#deps;
    const offers = await store.sourceSecrets.offers(source, clock.now());
    return offers.map(({ encrypted: _, fingerprint, ...offer }) => {
      const verifies = this.#fingerprints.has(fingerprint);
      return { fingerprint: fingerprint.slice(0, SHOWN_CHARACTERS), ...offer, verifies };
    });
  }

  /** Looks for what other processes have learnt and forgotten. @returns stops it */
  start(everyMs: number): () => Promise<void> {
    this.#poller.start(everyMs);
    return this.#poller.stop;
  }

  /**
   * For a process without that loop: looks when the last look is so old. An operator may have forgotten a secret.
   * @returns undefined where it is not
   */
  lookAfter(ms: number): Promise<void> | undefined {
    return performance.now() - this.#lookedAt < ms ? undefined : this.#lookSometimes();
  }

  async #learn(source: string, secret: string, address = ""): Promise<boolean> {
    const { store, encryptor, clock, log, fingerprint } = this.#deps;
    const print = fingerprint(source, secret);
    // The platform asks again where its answer was lost.
    if (this.#fingerprints.has(print)) return true;
    const encrypted = encryptor.encrypt(Buffer.from(secret), sourceSecretContext(source));
    const fields = { source, address, fingerprint: print.slice(0, SHOWN_CHARACTERS) };
    const isFrom = (network: string) => createAllowList([network])(address);
    const sent = { source, fingerprint: print, encrypted };
    const kept = await store.sourceSecrets.keep(sent, clock.now(), isFrom);
    const isOffered = await this.#offer(sent, address);
    if (kept === true) {
      log.info(fields, "a platform has sent its secret, which verifies its callbacks from now on");
      await this.#load();
      return true;
    }
    if (kept === "choose") return isOffered;
    // Another process may have learnt this one.
    await this.#lookSometimes();
    if (this.#fingerprints.has(print)) return true;
    const message =
      "a secret was sent, and not taken: another one was first, or none is expected. If this one is the platform's, take it: " +
      "oncehook sources relearn --forget --from <its address>, or --fingerprint <this one>";
    this.#sparing("warn", { fields, message, cause: `${source} ${address}` });
    return false;
  }

  /** Notes a secret for the operator, and warns where there are several. @returns false beyond the bounds */
  async #offer({ source, fingerprint, encrypted }: StoredSourceSecret, address: string): Promise<boolean> {
    const now = this.#deps.clock.now();
    const [key, resetAt] = [`${source} ${address}`, new Date(now.getTime() + MINUTE_MS)];
    const sender =
      this.#senders.get(key, MINUTE_MS, now) ??
      this.#senders.set(key, { resetAt, mayOffer: createWindowLimit(OFFERS_A_MINUTE, MINUTE_MS) });
    if (encrypted.length > MAX_OFFERED_BYTES || !sender.mayOffer(now)) return false;
    const offer = { fingerprint, address, encrypted: Buffer.from(encrypted).toString("base64") };
    const offers = await this.#deps.store.sourceSecrets.offer(source, offer, now);
    const fields = { source, offered: offers.length };
    const message =
      "several secrets were sent to the source in the last day: `oncehook sources` lists them. Take the platform's: " +
      "oncehook sources relearn --forget --fingerprint <of the secret>";
    if (offers.length > 1) this.#sparing("warn", { fields, message, cause: source });
    return true;
  }

  #lookSometimes(): Promise<void> | undefined {
    if (this.#looking === undefined && performance.now() - this.#lookedAt < LOOK_EVERY_MS) return undefined;
    this.#lookedAt = performance.now();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  #look(): Promise<void> {
    const message = "looking for secrets that platforms sent failed";
    return this.#load().catch((err: unknown) => this.#sparing("warn", { fields: { err }, message }));
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
    this.#deps.secretValues.add(kept.flatMap(([, secrets]) => secrets));
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
