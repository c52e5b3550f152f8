import type { JsonObject, JsonValue } from "../domain/index.ts";
import { StatementRecord } from "./statement-record.ts";

/** So many notifications are kept; the others are counted. */
const MAX_KEPT = 100;

/** The effects of a handler in a dry run, by its last run. A transaction that the database lost runs again. */
export class DryRun extends StatementRecord {
  notifications: { readonly topic: string; readonly payload: JsonObject }[] = [];
  notificationsOmitted = 0;
  /** Whether foreign keys that only a commit checks were left unchecked. */
  hasUncheckedKeys = false;

  override begin(payload: JsonValue | undefined): void {
    Object.assign(this, new DryRun(), { payload });
  }

  override foreignKeysUnchecked(): void {
    this.hasUncheckedKeys = true;
  }

  /** @param payload is kept as JSON carries it; what JSON cannot carry was refused before */
  notified(topic: string, payload: JsonObject): void {
    if (this.notifications.length === MAX_KEPT) this.notificationsOmitted += 1;
    else this.notifications.push({ topic, payload: JSON.parse(JSON.stringify(payload)) });
  }
}
