import type { CallbackRowView } from "oncehook/admin-client";
import { plain } from "../../parts/plain-message.ts";
import { shortReason } from "../../parts/problem-cause.ts";

/** Why a callback ended so, in one line; empty where its outcome says all. */
export function reasonOf({
  outcome,
  error,
  diagnosis,
  left_out,
}: Pick<CallbackRowView, "outcome" | "error" | "diagnosis" | "left_out">): string {
  if (left_out !== null && left_out !== undefined) return `${left_out.count} callbacks without rows of their own`;
  if (diagnosis !== null && diagnosis !== undefined) return plain(diagnosis.message);
  const [line = ""] = (error ?? "").split("\n", 1);
  return plain(line.replace(`${outcome}: `, ""));
}

/** The diagnosis that most forged callbacks have. Its reasons stand at the end of a sentence that no row has room for. */
const UNKNOWN_SECRET = /^The callback was signed with a secret\b/;

/** The same for a row, where the panel has the whole. */
export function rowReason(callback: Parameters<typeof reasonOf>[0]): string {
  const reason = reasonOf(callback);
  const isUnknown = callback.diagnosis?.code === "unknown" && UNKNOWN_SECRET.test(reason);
  return isUnknown ? "Unknown secret, or body changed" : shortReason(reason);
}
