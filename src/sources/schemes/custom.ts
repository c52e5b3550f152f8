import { failed } from "../../domain/index.ts";
import { withTimeout } from "../../system/index.ts";
import type { DistinctHeaders } from "../request.ts";
import { refuse, type Scheme, type VerificationResult } from "./scheme.ts";
import type { TenantContext } from "./tenant-scheme.ts";

/**
 * A user's own verification.
 * @param body the bytes exactly as they arrived
 * @param headers by their names in lower case; a repeated one has its values joined by `, `
 * @param url the registered address, with the query of this request: from `CALLBACK_BASE_URL`, never from `Host`
 * @param context the parameters of the path, where it has some
 * @returns whether the callback is authentic, or the index of the secret that fits (0 is the current one, -1 none)
 */
export type VerifyCallback = (
  body: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  url: string,
  context: TenantContext,
) => boolean | number | Promise<boolean | number>;

export interface CustomSchemeOptions {
  readonly verify: VerifyCallback;
  readonly origin: () => string;
  /** The only headers that it gets; all of them where left out. */
  readonly headers?: readonly string[] | undefined;
  /** How long a promise of it may take. Default 3000. */
  readonly timeLimitMs?: number;
}

const MAX_SECRETS = 1_000;
const LATE = Symbol("late");

/**
 * Verification by a function of the configuration. An error that it throws is its fault and not the caller's. So the
 * platform reads 500 and delivers again; 401 could lose the callback for good.
 */
export function createCustomScheme(options: CustomSchemeOptions): Scheme {
  const { verify, origin, timeLimitMs = 3_000 } = options;
  const names = options.headers?.map((name) => name.toLowerCase());
  return {
    challenge: 'Signature realm="callbacks"',
    isCostly: true,
    verify({ body, headers, target, params = {}, bodyReservation }) {
      try {
        const result = verify(body, joined(headers, names), origin() + target, { params });
        if (!(result instanceof Promise)) return resultOf(result);
        // Observed in any case: a rejection that comes too late must not end the process.
        result.catch(() => undefined);
        if (bodyReservation?.mayWait() === false)
          return failed("internal", new Error("verify: too many bodies wait for their verification"));
        return withTimeout(result, timeLimitMs, LATE)
          .then((settled) => {
            if (settled === LATE) throw new Error(`verify: took longer than ${timeLimitMs} ms`);
            return resultOf(settled);
          })
          .catch((error: unknown) => failed("internal", error));
      } catch (error) {
        return failed("internal", error);
      }
    },
  };
}

function resultOf(result: boolean | number): VerificationResult {
  if (result === false || result === -1)
    return refuse("signature_mismatch", "the source's own verify says that it is not authentic");
  const index = result === true ? 0 : result;
  if (Number.isInteger(index) && index >= 0 && index < MAX_SECRETS) return { verified: [{ method: "custom", index }] };
  const got = result === null ? "null" : typeof result;
  throw new TypeError(`verify: got ${got}, expected true, false or the index of a secret`);
}

function joined(headers: DistinctHeaders, names = Object.keys(headers)): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, headers[name]?.join(", ")]));
}
