import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type JsonObject, type Refused, refused } from "../domain/index.ts";
import { withTimeLimit } from "./with-time-limit.ts";

const ISSUES_TOLD = 3;

/**
 * `data` through the handler's own schema; a refusal names the fields.
 * @throws HandlerTimedOut when an asynchronous schema does not come to an end
 */
export async function validateData(
  schema: StandardSchemaV1,
  data: JsonObject,
  timeLimitMs: number,
): Promise<{ readonly value: unknown } | Refused> {
  const pending = schema["~standard"].validate(data);
  const result =
    pending instanceof Promise
      ? await withTimeLimit(timeLimitMs, "the schema of `data`", () => pending)
      : pending;
  if (result.issues === undefined) return { value: result.value };
  const told = result.issues.slice(0, ISSUES_TOLD).map(sentence).join("; ");
  return refused("event_invalid", { message: told === "" ? "data is not valid" : told });
}

function sentence({ path = [], message }: StandardSchemaV1.Issue): string {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return `${["data", ...keys].join(".")}: ${message}`;
}
