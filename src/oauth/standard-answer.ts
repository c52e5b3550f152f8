import { isJsonObject, type JsonObject } from "../domain/index.ts";

/** GitHub's name for RFC 6749's `invalid_grant`. */
const OTHER_NAMES = new Map([["bad_verification_code", "invalid_grant"]]);
const OK = 200;
const BAD_REQUEST = 400;

/**
 * A token endpoint's answer as RFC 6749 §5 has it, where platforms depart from it: an error under status 200, and a
 * `user_id` in numbers, which may be larger than JavaScript counts and is kept digit by digit.
 * @param keepIdToken false where none was asked for, so that none is there to be checked
 */
export async function standardAnswer(response: Response, keepIdToken: boolean): Promise<Response> {
  const text = await response.text();
  const answer = parse(text);
  const { headers } = response;
  if (answer === undefined) return new Response(text, { status: response.status, headers });
  if (!keepIdToken) delete answer.id_token;
  const isError = response.status === OK && typeof answer.error === "string";
  if (typeof answer.error === "string") answer.error = OTHER_NAMES.get(answer.error) ?? answer.error;
  const status = isError ? BAD_REQUEST : response.status;
  return new Response(JSON.stringify(answer), { status, headers });
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text, digits);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON.parse tells how a number was written, which TypeScript does not know yet. */
function digits(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? "";
  return key === "user_id" && typeof value === "number" && /^\d+$/.test(source) ? source : value;
}
