import { sql } from "kysely";
import { Area, insert, type Query, run } from "../database.ts";
import { readSetting, writeSetting } from "./settings.ts";

/** A secret that a platform chose when its address was registered. */
export interface StoredSourceSecret {
  readonly source: string;
  /** Keyed, so that it tells secrets apart and gives nothing away. */
  readonly fingerprint: string;
  readonly encrypted: Uint8Array;
}

/** Each is tried for every callback that no other one fits. A platform that registers again leaves the older ones behind. */
const MAX_SECRETS = 16;
/** Open until the first secret is known, and then closed for good. */
const UNTIL_ONE_IS_KNOWN = "9999-12-31T00:00:00.000Z";

/** In place of a network: none is taken in this window, since an operator chooses one. */
const CHOOSE = "choose";
/** Kept for so long after it was sent last, so that an operator can choose it. */
const OFFERED_MS = 86_400_000;
const MAX_OFFERED = 20;

/** A secret that was sent to a source, taken or not. Anybody can send one. */
export interface OfferedSecret {
  readonly fingerprint: string;
  /** Base64. */
  readonly encrypted: string;
  readonly address: string;
  readonly count: number;
  /** ISO 8601. */
  readonly first_at: string;
  readonly last_at: string;
}

interface WindowOptions {
  /** Deletes those that were learnt. */
  readonly forget?: boolean | undefined;
  /** The only network that the secret may come from. */
  readonly from?: string | undefined;
  /** None is taken until an operator chooses one. */
  readonly choose?: boolean | undefined;
}

const offeredSetting = (source: string) => `offered:${source}`;
const windowSetting = (source: string) => `learning:${source}`;

/** Anybody can send the handshake that brings a secret: one is kept only while its source's window is open. */
export class SourceSecrets extends Area {
  /** The newest first. */
  list(): Promise<readonly StoredSourceSecret[]> {
    return this.read`SELECT source, fingerprint, encrypted_secret AS encrypted
      FROM oncehook_source_secrets ORDER BY learnt_at DESC, fingerprint`;
  }

  /** Opens the window of a source that has no secret, until it has one. */
  async openUntilKnown(source: string): Promise<void> {
    await writeSetting(this.database.write, windowSetting(source), UNTIL_ONE_IS_KNOWN);
  }

  /** Closes that window: the source's configuration has a secret. */
  async closeUntilKnown(source: string): Promise<void> {
    await this.write`DELETE FROM oncehook_settings
      WHERE name = ${windowSetting(source)} AND value = ${UNTIL_ONE_IS_KNOWN}`;
  }

  /** Opens the window for one secret until a time, whatever is known. */
  async open(source: string, until: Date, { forget, from, choose }: WindowOptions = {}): Promise<void> {
    await this.database.transact(async (query) => {
      if (forget) await run(query, sql`DELETE FROM oncehook_source_secrets WHERE source = ${source}`);
      const value = [until.toISOString(), choose ? CHOOSE : (from ?? [])].flat().join(" ");
      await writeSetting(query, windowSetting(source), value);
    });
  }

  /** Keeps a secret, and closes the window with it. @returns `choose` where an operator is about to choose one */
  async keep(
    { source, fingerprint, encrypted }: StoredSourceSecret,
    now: Date,
    isFrom: (network: string) => boolean = () => true,
  ): Promise<boolean | "choose"> {
    // An unexpected one costs no transaction here.
    const open = await readSetting(this.database.read, windowSetting(source));
    if (open === undefined || open <= now.toISOString()) return false;
    const network = open.split(" ")[1];
    if (network === CHOOSE) return CHOOSE;
    if (network !== undefined && !isFrom(network)) return false;
    return this.database.transact(async (query) => {
      // The row's lock lets one process at a time through.
      const closing = sql`DELETE FROM oncehook_settings WHERE name = ${windowSetting(source)} AND value = ${open}
        AND (value <> ${UNTIL_ONE_IS_KNOWN} OR NOT EXISTS (${fingerprintsOf(source)}))`;
      const { changes } = await run(query, closing);
      if (changes > 0) await insertSecret(query, { source, fingerprint, encrypted }, now);
      return changes > 0;
    });
  }

  /** Takes an offered secret, and closes the window. @returns false for an unknown fingerprint @param start of its fingerprint */
  async choose(source: string, start: string, { forget }: WindowOptions, now: Date): Promise<boolean> {
    return this.database.transact(async (query) => {
      const offers = await lockOffers(query, source, now);
      const offer = offers.find(({ fingerprint }) => fingerprint.startsWith(start));
      if (offer === undefined) return false;
      if (forget) await run(query, sql`DELETE FROM oncehook_source_secrets WHERE source = ${source}`);
      await run(query, sql`DELETE FROM oncehook_settings WHERE name = ${windowSetting(source)}`);
      const { fingerprint, encrypted } = offer;
      await insertSecret(query, { source, fingerprint, encrypted: Buffer.from(encrypted, "base64") }, now);
      return true;
    });
  }

  /** Notes a secret that was sent. The oldest one of the address with the most makes room. @returns all of the last day */
  async offer(source: string, sent: Pick<OfferedSecret, "fingerprint" | "encrypted" | "address">, now: Date) {
    return this.database.transact(async (query) => {
      const offers = await lockOffers(query, source, now);
      const last_at = now.toISOString();
      const before = offers.find(({ fingerprint }) => fingerprint === sent.fingerprint);
      const { count = 0, first_at = last_at } = before ?? {};
      const others = offers.filter((one) => one !== before);
      const dropped = others.length < MAX_OFFERED ? undefined : oldestOfMostFrequent(others);
      const all = [...others.filter((one) => one !== dropped), { ...sent, count: count + 1, first_at, last_at }];
      await writeSetting(query, offeredSetting(source), JSON.stringify(all));
      return all;
    });
  }

  /** In the order in which they were sent last. */
  async offers(source: string, now: Date): Promise<readonly OfferedSecret[]> {
    return currentOffers(await readSetting(this.database.read, offeredSetting(source)), now);
  }
}

/** The row's lock lets one process at a time through. */
async function lockOffers(query: Query, source: string, now: Date): Promise<readonly OfferedSecret[]> {
  const locking = sql`${insert("oncehook_settings", { name: offeredSetting(source), value: "[]" })}
    ON CONFLICT (name) DO UPDATE SET value = oncehook_settings.value RETURNING value`;
  const { rows } = await run<{ value: string }>(query, locking);
  return currentOffers(rows[0]?.value, now);
}

function currentOffers(text = "[]", now: Date): readonly OfferedSecret[] {
  const since = new Date(now.getTime() - OFFERED_MS).toISOString();
  return (JSON.parse(text) as OfferedSecret[]).filter(({ last_at }) => last_at > since);
}

function oldestOfMostFrequent(offers: readonly OfferedSecret[]): OfferedSecret | undefined {
  const addresses = [...Map.groupBy(offers, ({ address }) => address).values()];
  return addresses.sort((one, other) => other.length - one.length)[0]?.[0];
}

const fingerprintsOf = (source: string) =>
  sql`SELECT fingerprint FROM oncehook_source_secrets WHERE source = ${source}`;

async function insertSecret(query: Query, { encrypted, ...key }: StoredSourceSecret, now: Date): Promise<void> {
  const row = { ...key, encryptedSecret: encrypted, learntAt: now };
  const learnt = sql`${insert("oncehook_source_secrets", row)} ON CONFLICT (source, fingerprint) DO UPDATE SET
    encrypted_secret = excluded.encrypted_secret, learnt_at = excluded.learnt_at`;
  await run(query, learnt);
  const oldest = sql`DELETE FROM oncehook_source_secrets WHERE source = ${key.source} AND fingerprint NOT IN
    (${fingerprintsOf(key.source)} ORDER BY learnt_at DESC, fingerprint LIMIT ${sql.lit(MAX_SECRETS)})`;
  await run(query, oldest);
}
