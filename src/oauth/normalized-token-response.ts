import { isJsonObject, type JsonObject } from "../domain/index.ts";

/** GitHub's name for RFC 6749's `invalid_grant`. */
const OTHER_NAMES = new Map([["bad_verification_code", "invalid_grant"]]);
const ID_NAMES: ReadonlySet<string> = new Set(["user_id", "sub"]);
const OK = 200;
const BAD_REQUEST = 400;

/**
 * A token endpoint's answer as RFC 6749 §5 has it, where platforms depart from it: an error under status 200, a user's id
 * in numbers, which may be larger than JavaScript counts and is kept digit by digit; no `token_type`, scopes as a list, empty
 * fields, another content type. The code is spent, and its tokens must not be lost for that.
 * @param keepIdToken false where none was asked for, so that none is there to be checked
 */
export async function normalizedTokenResponse(response: Response, keepIdToken: boolean): Promise<Response> {
  const text = await response.text();
  const answer = parse(text);
  const headers = new Headers(response.headers);
  if (answer === undefined) return new Response(text, { status: response.status, headers });
  if (!keepIdToken) delete answer.id_token;
  const isError = response.status === OK && typeof answer.error === "string";
  if (typeof answer.error === "string") answer.error = OTHER_NAMES.get(answer.error) ?? answer.error;
  const status = isError ? BAD_REQUEST : response.status;
  if (status === OK) complete(answer);
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(answer), { status, headers });
}

function complete(answer: JsonObject): void {
  for (const [name, value] of Object.entries(answer)) if (value === null || value === "") delete answer[name];
  answer.token_type ??= "Bearer";
  if (Array.isArray(answer.scope)) answer.scope = answer.scope.join(" ");
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
  return ID_NAMES.has(key) && typeof value === "number" && /^\d+$/.test(source) ? source : value;
}
