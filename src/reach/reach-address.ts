import { randomBytes } from "node:crypto";
import { isPublicHost } from "../config/index.ts";
import { type Exchanged, exchange } from "../fetch/index.ts";
import type { LoggedCallback } from "../store/index.ts";
import { endOf, findArrival, type LogReading } from "./find-arrival.ts";
import { troubleOf } from "./trouble.ts";
import { type Attempt, judge } from "./verdict.ts";

/** Whether a registered address leads here. */
export interface Reach {
  readonly url: string;
  readonly reached: boolean;
  /** What was found, and where it is not well, what to do. */
  readonly says: string;
  /** What keeps a platform outside from reaching it although this machine does. */
  readonly warning: string | null;
  readonly tookMs: number;
  /** Null where no answer came. */
  readonly status: number | null;
}

const TIME_LIMIT_MS = 5_000;
const MOST_BYTES = 16_384;
const LETTERS = 24;

/**
 * Sends an unsigned callback to an address as a platform would, and looks for its row in the callback log. The request is known
 * by a mark of its own, and by the id with which the receiver answers: a proxy may change the one, and MASK_HEADERS hide the other.
 * @param address one that is configured, and never one that somebody asks for
 * @param proof headers by which the receiver logs the request as `endpoint_check`
 */
export async function reachAddress(
  address: string,
  log: LogReading,
  proof: Readonly<Record<string, string>>,
): Promise<Reach> {
  const begun = performance.now();
  const url = new URL(address);
  const mark = newMark();
  const end = await endOf(log);
  const attempt = await tryOut(url, mark, proof);
  const answer = "answer" in attempt ? attempt.answer : undefined;
  const isOurs = ({ requestHeaders, requestId }: LoggedCallback) =>
    requestHeaders.includes(mark) || requestId === answer?.headers["x-request-id"];
  const arrival = mayHaveArrived(attempt) ? await findArrival(log, end, isOurs) : undefined;
  return {
    url: address,
    ...judge(url, attempt, arrival),
    warning: answer === undefined ? null : warningOf(url, answer),
    tookMs: performance.now() - begun,
    status: answer?.status ?? null,
  };
}

async function tryOut(url: URL, mark: string, proof: Readonly<Record<string, string>>): Promise<Attempt> {
  const headers = { ...proof, "user-agent": `oncehook-reach ${mark}`, "content-type": "application/json" };
  const limits = { timeLimitMs: TIME_LIMIT_MS, mostBytes: MOST_BYTES };
  try {
    return { answer: await exchange(url, { method: "POST", headers, body: "{}", ...limits }) };
  } catch (error) {
    return { trouble: troubleOf(error, url, TIME_LIMIT_MS) };
  }
}

/** No receiver redirects a callback, so that nothing need be looked for. */
function mayHaveArrived(attempt: Attempt): boolean {
  if ("trouble" in attempt) return attempt.trouble.mayHaveArrived;
  return attempt.answer.status < 300 || attempt.answer.status >= 400;
}

/** Of letters alone: digits could be taken for a card's number, and masked in the log. */
function newMark(): string {
  return Array.from(randomBytes(LETTERS), (byte) => String.fromCharCode(97 + (byte % 26))).join("");
}

function warningOf({ hostname }: URL, { remoteAddress }: Exchanged): string | null {
  if (isPublicHost(remoteAddress)) return null;
  const where = `It was found at ${remoteAddress}, an address of this machine or of a private network`;
  return isPublicHost(hostname)
    ? `${where}: a platform outside can reach it only where the name ${hostname} leads elsewhere from there.`
    : `${where}: a platform outside cannot reach it. Set CALLBACK_BASE_URL to a public address.`;
}
