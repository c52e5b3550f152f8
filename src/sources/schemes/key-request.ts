import { boundedFetch } from "../../system/index.ts";

const TIMEOUT_MS = 3_000;

/** The addresses at which a platform may publish its keys. Both patterns are of the whole text, and linear. */
export interface AddressPin {
  /** Of the host, with its port where it is not 443. */
  readonly host: RegExp;
  readonly path: RegExp;
}

const MAX_URL_LENGTH = 512;

/**
 * Whether a URL that a sender named may be asked: https, in the one spelling of the URL Standard. Its host and path
 * must be those that the pin lists. So no user name, query, fragment, escaped dot or port hides in it.
 */
export function isPinned(url: string, { host, path }: AddressPin): boolean {
  const parsed = url.length > MAX_URL_LENGTH ? null : URL.parse(url);
  if (parsed === null || parsed.href !== url || parsed.protocol !== "https:") return false;
  return host.test(parsed.host) && path.test(parsed.pathname) && `https://${parsed.host}${parsed.pathname}` === url;
}

export interface KeyRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The statuses by which the platform says that there is no such key, or what tells it from the response. */
  readonly absent?: readonly number[] | ((response: Response) => boolean | Promise<boolean>);
}

/**
 * One request for keys: bounded in time and size, without redirects.
 * @returns undefined where there is no such key
 * @throws Error for every status but 200 and those of absence, and where nothing responds
 */
export async function requestKeys(url: string, { absent = [], ...init }: KeyRequest = {}): Promise<string | undefined> {
  const response = await boundedFetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const isAbsent = typeof absent === "function" ? await absent(response.clone()) : absent.includes(response.status);
  if (isAbsent) return undefined;
  if (response.status !== 200) throw new Error(`${new URL(url).origin} answers ${response.status}`);
  return response.text();
}
