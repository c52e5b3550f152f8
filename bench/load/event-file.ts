import { createHmac, createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";

/** The signing secret of every contender. It protects nothing. */
export const SECRET = "benchmark-signing-secret-in-the-open";
/** The first characters of a line: HMAC-SHA256 in hex. `post.lua` has the same number. */
export const SIGNATURE_LENGTH = 64;
/** Stands in a line for the filling, which every large body has in common: written once, not in each line. */
export const FILLING_MARK = "\u0001";

const LINES_AT_ONCE = 5_000;
/** An event that is sent again comes this much later; with 500 it would be the same few over and over. */
const SENT_AGAIN_AFTER = 503;
const FILLED_BYTES = 16 * 1024;

export type Traffic = "fresh" | "duplicates" | "bad-signatures" | "mixed" | "large";

const key = createSecretKey(Buffer.from(SECRET));
const wrongKey = createSecretKey(randomBytes(32));

export interface Event {
  readonly signature: string;
  readonly body: string;
}

/** One signed event with an id and an order of its own. Ids are random, as they are in life and unkind to indexes. */
export function signedEvent(filling = "", traffic: Traffic = "fresh"): Event {
  const id = randomUUID();
  const lines = filling === "" ? "" : `,"lines":[${filling}]`;
  const body =
    `{"event_id":"${id}","event_type":"payment_notify","timestamp":${Math.floor(Date.now() / 1000)},` +
    `"data":{"order_id":"order-${id.slice(0, 18)}","amount":${(randomCents() / 100).toFixed(2)},"currency":"EUR"${lines}}}`;
  const signer = traffic === "bad-signatures" ? wrongKey : key;
  return { signature: createHmac("sha256", signer).update(body).digest("hex"), body };
}

function randomCents(): number {
  return 100 + Math.floor(Math.random() * 100_000);
}

/** An order's lines, so that a body comes to about 16 KiB. */
export function fillingOf(traffic: Traffic): string {
  if (traffic !== "large") return "";
  const line = (at: number) =>
    `{"sku":"sku-${at}","name":"An article with a name","quantity":${at % 7},"unit_price":${at}.95}`;
  const lines: string[] = [];
  for (let size = 0; size < FILLED_BYTES; size += lines.at(-1)?.length ?? 0) lines.push(line(lines.length));
  return lines.join(",");
}

/** The line of an event in the file. */
export function lineOf({ signature, body }: Event, filling: string): string {
  return signature + (filling === "" ? body : body.replace(filling, () => FILLING_MARK));
}

/**
 * Writes signed events for `post.lua`. Of `mixed`, three in ten have been in the file before; `duplicates` is the one
 * event that is given.
 */
export function writeEventFile(path: string, traffic: Traffic, count: number, event?: Event): void {
  const filling = fillingOf(traffic);
  const earlier: string[] = [];
  const out = openSync(path, "w");
  try {
    writeSync(out, `${filling}\n`);
    if (traffic === "duplicates" && event !== undefined) {
      writeSync(out, `${lineOf(event, filling)}\n`);
      return;
    }
    for (let written = 0; written < count; written += LINES_AT_ONCE) {
      const lines: string[] = [];
      for (let at = written; at < Math.min(count, written + LINES_AT_ONCE); at += 1) {
        const again = traffic === "mixed" && at >= SENT_AGAIN_AFTER && at % 10 < 3;
        const line = again ? (earlier[at % SENT_AGAIN_AFTER] ?? "") : lineOf(signedEvent(filling, traffic), filling);
        earlier[at % SENT_AGAIN_AFTER] = line;
        lines.push(line);
      }
      writeSync(out, `${lines.join("\n")}\n`);
    }
  } finally {
    closeSync(out);
  }
}
