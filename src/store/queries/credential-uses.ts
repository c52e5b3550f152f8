import type { CredentialUse } from "../store.ts";
import type { Access } from "./access.ts";

const TABLE = "oncehook_credential_uses";

/** One row a secret: its first use and its last. */
export async function noteCredential({ write }: Access, use: CredentialUse, now: Date): Promise<void> {
  const last_used_at = now.toISOString();
  await write
    .insertInto(TABLE)
    .values({ ...use, first_used_at: last_used_at, last_used_at })
    .onConflict((conflict) => conflict.columns(["name", "fingerprint"]).doUpdateSet({ last_used_at }))
    .execute();
}
