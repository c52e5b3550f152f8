import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isPublicHost } from "../../config/index.ts";
import type { Callbacks, StoredCallback } from "../../store/index.ts";
import { type ReceivedResponse, sendRequest } from "../../system/index.ts";
import { connectionProblem, evaluateProbe, formWarning, type ProbeResult } from "./evaluate-probe.ts";

export type EndpointCheck = Awaited<ReturnType<typeof checkEndpoint>>;

const TIME_LIMIT_MS = 5_000;
const MAX_BYTES = 16_384;
const LETTERS = 24;

interface CheckOptions {
  /** Headers by which the receiver logs a request as `endpoint_check`; new ones for each. */
  readonly issueProof: () => Readonly<Record<string, string>>;
  /** Its values replace the path's parameters; made-up ones where they do not fit. */
  readonly tenant?: string | undefined;
  /** Whether a form is sent too, which a framework before the receiver may refuse. */
  readonly sendsForm: boolean;
}

/**
 * Sends an unsigned callback to an address as a platform would, and looks for its log entry. Two marks identify it: a
 * header, which MASK_HEADERS may hide, and the response's request id, which a proxy may change.
 * @param address a configured address; never one from a request
 */
export async function checkEndpoint(
  address: string,
  log: CallbackLogReader,
  { issueProof, tenant, sendsForm }: CheckOptions,
) {
  const startedAt = performance.now();
  const sentTo = withoutParameters(address, tenant?.split("/") ?? []);
  const url = new URL(sentTo);
  // Only letters: the log would mask digits that look like a card's number.
  const mark = Array.from(randomBytes(LETTERS), (byte) => String.fromCharCode(97 + (byte % 26))).join("");
  const [end = 0] = await log.rows.newestIds(1);
  const attempt = await sendProbe(url, mark, issueProof());
  const answer = "answer" in attempt ? attempt.answer : undefined;
  const isOurs = ({ requestHeaders, requestId }: StoredCallback) =>
    requestHeaders.includes(mark) || requestId === answer?.headers["x-request-id"];
  const arrival = mayHaveArrived(attempt) ? await findLoggedRequest(log, end, isOurs) : undefined;
  const { reached, message } = evaluateProbe(url, attempt, arrival);
  const form = reached && sendsForm ? await sendProbe(url, mark, issueProof(), FORM) : undefined;
  const where = sentTo === address ? "" : ` The request went to ${sentTo}, since the path has parameters.`;
  return {
    url: address,
    reached,
    message: `${message}${where}`,
    /** Why a platform outside may not reach it although this machine does. */
    warning: formWarning(form) ?? (answer === undefined ? null : warningOf(url, answer)),
    duration_ms: performance.now() - startedAt,
    status: answer?.status ?? null,
  };
}

const PARAMETER = /(?<=\/):[^/]+/g;
const MADE_UP = "example";

/** The address of a tenant, since no request fits the names of parameters. */
function withoutParameters(address: string, values: readonly string[]): string {
  const isOfPath = address.match(PARAMETER)?.length === values.length;
  let place = 0;
  return address.replaceAll(PARAMETER, () => (isOfPath ? values[place++] : undefined) ?? MADE_UP);
}

const FORM = "application/x-www-form-urlencoded";

async function sendProbe(
  url: URL,
  mark: string,
  proof: Readonly<Record<string, string>>,
  type = "application/json",
): Promise<ProbeResult> {
  const agent = `oncehook-endpoint-check ${mark}`;
  const headers = { ...proof, "user-agent": agent, "content-type": type };
  const limits = { timeLimitMs: TIME_LIMIT_MS, maxBytes: MAX_BYTES };
  try {
    return { answer: await sendRequest(url, { method: "POST", headers, body: "{}", ...limits }) };
  } catch (error) {
    return { problem: connectionProblem(error, url, TIME_LIMIT_MS) };
  }
}

/** False for a redirect, which no receiver sends: the log has no entry then. */
function mayHaveArrived(attempt: ProbeResult): boolean {
  if ("problem" in attempt) return attempt.problem.mayHaveArrived;
  return attempt.answer.status < 300 || attempt.answer.status >= 400;
}

function warningOf({ hostname }: URL, { remoteAddress }: ReceivedResponse): string | null {
  if (isPublicHost(remoteAddress)) return null;
  const where = `It was found at ${remoteAddress}, an address of this machine or of a private network`;
  return isPublicHost(hostname)
    ? `${where}: a platform outside can reach it only where the name ${hostname} leads elsewhere from there.`
    : `${where}: a platform outside cannot reach it. Set CALLBACK_BASE_URL to a public address.`;
}

export interface CallbackLogReader {
  /** Makes the rows visible that this process has still to write. */
  readonly flush: () => Promise<void>;
  readonly rows: Pick<Callbacks, "newestIds" | "after">;
}

const SEARCH_TIMEOUT_MS = 3_000;
const SEARCH_INTERVAL_MS = 150;
const PAGE = 100;
/** A log that grows by more than this in the time of one look is not read to its end. */
const MAX_PAGES = 20;

/** Looks for a row after `end` for some seconds: another process may have to write it first. */
async function findLoggedRequest(log: CallbackLogReader, end: number, isOurs: (row: StoredCallback) => boolean) {
  async function searchOnce(): Promise<StoredCallback | undefined> {
    let last = end;
    for (let count = 0; count < MAX_PAGES; count += 1) {
      const page = await log.rows.after(last, PAGE);
      const row = page.find(isOurs);
      if (row !== undefined || page.length < PAGE) return row;
      last = page.at(-1)?.id ?? last;
    }
    return undefined;
  }

  const until = performance.now() + SEARCH_TIMEOUT_MS;
  for (;;) {
    await log.flush();
    const row = await searchOnce();
    if (row !== undefined || performance.now() > until) return row;
    await sleep(SEARCH_INTERVAL_MS);
  }
}
