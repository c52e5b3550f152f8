import * as oauth from "oauth4webapi";

/**
 * What the platform answered was no success. The library's own errors carry whole answers in their causes (claims, a
 * nonce, fields of any name), and errors end up in logs: this one tells what is the matter and nothing else.
 */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  /** The `error` of RFC 6749 §5.2, where the platform gave one. */
  readonly verdict: string | undefined;

  constructor(message: string, verdict?: string) {
    super(message);
    this.verdict = verdict;
  }
}

/** Only this verdict on a code or a refresh token is final; a wrong client secret, say, is ours to mend. */
export function isFinal(error: unknown): boolean {
  return error instanceof PlatformError && error.verdict === "invalid_grant";
}

/** Runs a request to the platform, with errors that may be logged. */
export async function asking<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) {
      throw new PlatformError(`the platform answered ${error.status}: ${error.error}`, error.error);
    }
    if (error instanceof oauth.WWWAuthenticateChallengeError) {
      throw new PlatformError(`the platform answered ${error.status} and wants another authentication`);
    }
    if (error instanceof oauth.OperationProcessingError) throw new PlatformError(error.message);
    throw error;
  }
}
