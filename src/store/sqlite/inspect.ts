import { existsSync } from "node:fs";
import {
  COUNT_WAITING,
  DIAGNOSES_SINCE,
  type Inspection,
  type Look,
  SELECT_DIAGNOSES,
  SELECT_OWN_MIGRATIONS,
  SELECT_USES,
  toDiagnosis,
  toSeenCredential,
  toWaitingByChannel,
} from "../inspection.ts";
import { lookingAt } from "./looking-at.ts";

/** Looks at a database without changing it. @throws the driver's error when it is not a database */
export async function inspectSqlite(path: string, { tables: asked = [] }: Look = {}): Promise<Inspection> {
  if (!existsSync(path)) return { exists: false, tables: [] };
  return lookingAt(path, (database) => {
    const find = database.prepare("SELECT name FROM sqlite_schema WHERE name = ? COLLATE NOCASE");
    const tables = asked.filter((name) => find.get(name) !== undefined);
    const known = database
      .prepare("SELECT name FROM sqlite_schema WHERE name IN ('oncehook_schema', 'oncehook_settings')")
      .all();
    if (known.length < 2) return { exists: false, tables };
    const newest = database.prepare("SELECT max(number) AS number FROM oncehook_schema").get();
    const schema = Number(newest?.number ?? 0);
    const settings = database.prepare("SELECT name, value FROM oncehook_settings").all();
    const stored = new Map(settings.map((row) => [String(row.name), String(row.value)]));
    const uses = database.prepare(SELECT_USES).all();
    const waiting = database.prepare(COUNT_WAITING).all();
    const refused = schema < DIAGNOSES_SINCE ? [] : database.prepare(SELECT_DIAGNOSES).all();
    const own = database.prepare(SELECT_OWN_MIGRATIONS).all();
    return {
      exists: true,
      tables,
      ownMigrations: own.map(({ name }) => String(name)),
      schema,
      environment: stored.get("environment"),
      baseUrl: stored.get("base_url"),
      keyId: stored.get("key_id"),
      durabilityWarnings: [],
      credentialUses: uses.map(toSeenCredential),
      waitingByChannel: toWaitingByChannel(waiting),
      diagnoses: refused.map(toDiagnosis),
    };
  });
}
