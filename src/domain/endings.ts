import type { DiagnosisCode } from "./diagnoses.ts";
import { FAULTS, type FaultCode } from "./faults.ts";
import type { JsonObject } from "./json.ts";
import type { AlreadyProcessed, Failed, Outcome, Refused, Success } from "./outcome.ts";

export function alreadyProcessed(result: JsonObject | null, isSameBody: boolean): AlreadyProcessed {
  return { ending: "already_processed", result, isSameBody };
}

export function success(result: JsonObject): Success {
  return { ending: "success", result };
}

/** `message` and `detail` only where the ending names a field or a cause of its own. */
export function refused(
  code: FaultCode,
  words: { message?: string; detail?: string; allow?: string; because?: DiagnosisCode } = {},
): Refused {
  return { ending: "refused", code, message: FAULTS[code].message, ...words };
}

export function failed(code: FaultCode, cause: unknown): Failed {
  return { ending: "failed", code, cause };
}

export function isRefused(value: unknown): value is Refused {
  return hasEnding(value) && value.ending === "refused";
}

/** The HTTP status of an ending: 200, or what the catalogue says (SPEC 7). */
export function statusOf(outcome: Outcome): number {
  return "code" in outcome ? FAULTS[outcome.code].status : 200;
}

function hasEnding(value: unknown): value is { ending: unknown } {
  return typeof value === "object" && value !== null && "ending" in value;
}
