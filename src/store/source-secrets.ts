import { sql } from "kysely";
import { Area, insert, run } from "./database.ts";
import { writeSetting } from "./settings.ts";

/** A secret that a platform chose when its address was registered. */
export interface StoredSourceSecret {
  readonly source: string;
  /** Keyed, so that it tells secrets apart and gives nothing away. */
  readonly fingerprint: string;
  readonly encrypted: Uint8Array;
}

/** Each is tried for every callback that no other one fits; a platform that registers again leaves the older ones behind. */
const MAX_SECRETS = 16;
/** Open until the first secret is known, and then closed for good. */
const UNTIL_ONE_IS_KNOWN = "9999-12-31T00:00:00.000Z";

const windowSetting = (source: string) => `learning:${source}`;

/** Anybody can send the handshake that brings a secret: one is kept only while its source's window is open. */
export class SourceSecrets extends Area {
  /** The newest first. */
  async list(): Promise<readonly StoredSourceSecret[]> {
    return this.read<StoredSourceSecret>`SELECT source, fingerprint, encrypted_secret AS encrypted
      FROM oncehook_source_secrets ORDER BY learnt_at DESC, fingerprint`;
  }

  /** Opens the window of a source that has no secret, until it has one. */
  async openUntilKnown(source: string): Promise<void> {
    const window = { name: windowSetting(source), value: UNTIL_ONE_IS_KNOWN };
    await this
      .write`${insert("oncehook_settings", window)} ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  }

  /** Closes that window: the source's configuration has a secret. */
  async closeUntilKnown(source: string): Promise<void> {
    await this.write`DELETE FROM oncehook_settings
      WHERE name = ${windowSetting(source)} AND value = ${UNTIL_ONE_IS_KNOWN}`;
  }

  /**
   * Opens the window for one secret until a time, whatever is known.
   * @param forgets deletes those that were learnt @param from the only network that the secret may come from
   */
  async open(
    source: string,
    until: Date,
    { forgets = false, from }: { forgets?: boolean; from?: string | undefined } = {},
  ): Promise<void> {
    await this.database.transact(async (query) => {
      if (forgets) await run(query, sql`DELETE FROM oncehook_source_secrets WHERE source = ${source}`);
      const value = [until.toISOString(), from].filter((part) => part !== undefined).join(" ");
      await writeSetting(query, windowSetting(source), value);
    });
  }

  /**
   * Keeps a secret, and closes the window with it.
   * @param isFrom whether the secret came from a network @returns false where the window is not open for it
   */
  async keep(
    { source, fingerprint, encrypted }: StoredSourceSecret,
    now: Date,
    isFrom: (network: string) => boolean = () => true,
  ): Promise<boolean> {
    // A stranger's costs no transaction.
    const [open] = await this.read<{ value: string }>`SELECT value FROM oncehook_settings
      WHERE name = ${windowSetting(source)} AND value > ${now.toISOString()}`;
    const network = open?.value.split(" ")[1];
    if (open === undefined || (network !== undefined && !isFrom(network))) return false;
    return this.database.transact(async (query) => {
      const own = sql`SELECT fingerprint FROM oncehook_source_secrets WHERE source = ${source}`;
      // The row's lock lets one process at a time through.
      const { changes } = await run(
        query,
        sql`DELETE FROM oncehook_settings WHERE name = ${windowSetting(source)} AND value = ${open.value}
          AND (value <> ${UNTIL_ONE_IS_KNOWN} OR NOT EXISTS (${own}))`,
      );
      if (changes === 0) return false;
      const row = { source, fingerprint, encryptedSecret: encrypted, learntAt: now };
      await run(
        query,
        sql`${insert("oncehook_source_secrets", row)} ON CONFLICT (source, fingerprint) DO UPDATE SET
          encrypted_secret = excluded.encrypted_secret, learnt_at = excluded.learnt_at`,
      );
      await run(
        query,
        sql`DELETE FROM oncehook_source_secrets WHERE source = ${source} AND fingerprint NOT IN
          (${own} ORDER BY learnt_at DESC, fingerprint LIMIT ${sql.lit(MAX_SECRETS)})`,
      );
      return true;
    });
  }
}
