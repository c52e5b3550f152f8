import { createHmac } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { backfillOnce } from "../../src/app/index.ts";
import { defineHandler } from "../../src/index.ts";
import type { SignedRequest, SourceDefinition } from "../../src/sources/index.ts";
import { custom, hmac, microsoftGraph, token } from "../../src/sources/platforms/index.ts";
import { requestOf } from "../support/contract.ts";
import { openPreset, PRESET_NOW, PRESET_ORIGIN } from "../support/preset.ts";
import { PRESET_SENDERS } from "../support/preset-senders.ts";
import { type TestReceiver, testConfig, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

const ENV = {
  CALLBACK_BASE_URL: PRESET_ORIGIN,
  RATE_LIMIT_CALLBACK: "off",
  RATE_LIMIT_DEFAULT: "off",
  TRUST_PROXY: "127.0.0.1/32",
};
const CLOCK = { now: () => PRESET_NOW };

interface Case {
  readonly source: SourceDefinition;
  readonly genuine: SignedRequest;
  readonly forged: SignedRequest;
}

interface Row {
  readonly source: string | null;
  readonly outcome: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function send(
  { publicOrigin }: TestReceiver,
  path: string,
  { target, headers, body, method }: SignedRequest,
): Promise<number> {
  const [, query = ""] = target.split(/(?=\?)/);
  const values = Object.entries(headers).map(([name, [value = ""] = []]) => [name, value]);
  const response = await fetch(`${publicOrigin}${path}${query}`, {
    method,
    headers: { ...Object.fromEntries(values), "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" },
    body: Buffer.from(body),
  });
  await response.arrayBuffer();
  return response.status;
}

/** All that a reader of logs, or a viewer of the page, can see. */
async function seen(receiver: TestReceiver): Promise<{ rows: readonly Row[]; text: string }> {
  const rows = await wholeCallbacks(receiver);
  let texts = JSON.stringify([receiver.lines, rows]);
  for (const path of [
    "callbacks?limit=200",
    "callbacks/export?format=csv",
    "failures",
    "events",
    "sources",
    "overview?span=hour",
  ])
    texts += JSON.stringify((await receiver.admin(`/api/v1/${path}`)).body);
  return { rows, text: texts };
}

/** Every value of every table, bytes as Latin-1 text. */
function stored({ target }: TestReceiver): string {
  using database = new DatabaseSync(target.url.replace("sqlite:", ""), { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return tables
    .flatMap(({ name }) => database.prepare(`SELECT * FROM "${name}"`).all())
    .flatMap((row) => Object.values(row))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
    .join("\n");
}

/** The request as a reader of its row would send it again. */
function fromRow({ method, url, headers, body }: Row): SignedRequest {
  return requestOf(body, { method, target: url, headers });
}

/** The texts in a request at the places that the source names, with their parts. */
function credentialsOf({ credentialPlaces }: SourceDefinition, { headers, target, body }: SignedRequest) {
  const { headers: names = [], fields = [] } = credentialPlaces;
  const ofHeaders = names.flatMap((name) => headers[name.toLowerCase()] ?? []);
  const text = body.toString();
  const ofFields = fields.flatMap((name) =>
    [...`${text}&${target}`.matchAll(new RegExp(`"?${name}"?[:=]"?([^"&}]+)`, "g"))].map(([, value = ""]) => value),
  );
  return [...ofHeaders, ...ofFields]
    .flatMap((value) => [value, ...value.split(/[\s,;=]+/)])
    .filter((part) => part.length > 15);
}

async function showsNoCredential(receiver: TestReceiver, cases: Readonly<Record<string, Case>>): Promise<void> {
  await until(async () => (await seen(receiver)).rows.length >= 2 * Object.keys(cases).length);
  const { rows, text: shown } = await seen(receiver);
  const text = shown + stored(receiver);
  for (const row of rows) {
    const source = cases[row.source ?? ""]?.source;
    if (source === undefined) throw new Error(`a row of no source: ${JSON.stringify(row)}`);
    const result = await openPreset(source).scheme.verify({ ...fromRow(row), params: { shop: "acme" } });
    expect(result, `${row.source}: ${JSON.stringify(row)}`).not.toHaveProperty("verified");
  }
  for (const [name, { source, genuine, forged }] of Object.entries(cases))
    for (const part of [...credentialsOf(source, genuine), ...credentialsOf(source, forged)])
      expect(
        text.includes(part),
        `${name}, ${source.preset}, shows ${part}: ${text.slice(text.indexOf(part) - 300, text.indexOf(part) + 100)}`,
      ).toBe(false);
}

const place = (index: number) => `p${index}`;

describe("the credentials of every preset", () => {
  it("no row, line or response of a genuine or a forged callback holds what an authentic one is made of, and no table", {
    tags: "full",
  }, async () => {
    const cases: Record<string, Case> = {};
    for (const [index, [, sender]] of PRESET_SENDERS.entries()) {
      const source = sender.source([sender.secrets[0] ?? ""]);
      cases[place(index)] = { source, genuine: await sender.callback(0), forged: await sender.callback(3) };
    }
    const bound = new Set<string>();
    const sources = Object.fromEntries(Object.entries(cases).map(([name, { source }]) => [name, source]));
    await withReceiver(
      "sqlite",
      async (receiver) => {
        for (const [name, { genuine, forged }] of Object.entries(cases)) {
          if ((await send(receiver, `/api/${name}/callback`, genuine)) === 401) bound.add(name);
          expect(await send(receiver, `/api/${name}/callback`, forged), name).toBe(401);
        }
        await showsNoCredential(receiver, cases);
      },
      { sources, clock: CLOCK, env: ENV },
    );
    // The signature of some covers the path, which is the one of the samples then.
    expect(bound.size).toBeLessThan(10);
    for (const name of bound) {
      const one = cases[name] as Case;
      await withReceiver(
        "sqlite",
        async (receiver) => {
          expect(await send(receiver, "/api/source/callback", one.genuine), name).not.toBe(401);
          expect(await send(receiver, "/api/source/callback", one.forged), name).toBe(401);
          await showsNoCredential(receiver, { source: one });
        },
        { sources: { source: one.source }, clock: CLOCK, env: ENV },
      );
    }
  });
});

const SECRET = "a secret of the source's own";
const OTHER = "a secret of some other source";
const BODY = { id: "evt-1", type: "order.placed" };
const CONTRACT = { id: "body.id", type: "body.type", path: "/hooks/:shop" };
const digest = (secret: string) => createHmac("sha256", secret).update(JSON.stringify(BODY)).digest("hex");
const TEXTS = [SECRET, OTHER, encodeURIComponent(SECRET), digest(SECRET), digest(OTHER)];
const withHeader = (name: string, value: (secret: string) => string) => (secret: string) =>
  requestOf(BODY, { headers: { [name]: value(secret) } });
const equals = (claimed: string | null | undefined) => claimed === SECRET;
const queryOf = (url: string) => new URL(url).searchParams.get("k");

/** The last member is the response to an event whose handler failed; 500 where it is left out. */
const OWN: readonly [string, SourceDefinition, (secret: string) => SignedRequest, number?][] = [
  [
    "hmac() in a header of any name",
    hmac({
      ...CONTRACT,
      path: "/hooks/acme",
      secret: SECRET,
      signature: { header: "X-Acme", encoding: "hex" },
      signed: "{body}",
    }),
    withHeader("X-Acme", digest),
  ],
  [
    "hmac() with secrets of tenants",
    hmac({
      ...CONTRACT,
      secret: () => SECRET,
      signature: { header: "X-Acme", encoding: "hex" },
      signed: "{body}",
    }),
    withHeader("X-Acme", digest),
  ],
  [
    "token() with tokens of tenants",
    token({ ...CONTRACT, secret: () => SECRET, header: "Verif-Hash" }),
    withHeader("Verif-Hash", String),
  ],
  [
    "a preset with tokens of tenants in the body",
    microsoftGraph({ secret: () => SECRET, path: "/hooks/:shop" }),
    (clientState) => requestOf({ value: [{ id: "1", changeType: "updated", clientState }] }),
    // Its key is of one delivery: another delivery would be another event, so the failed one is accepted.
    202,
  ],
  [
    "custom() that names no place, by a header",
    custom({ ...CONTRACT, verify: (_body, { "x-acme": header }) => equals(header) }),
    withHeader("X-Acme", String),
  ],
  [
    "custom() that names no place, by the query",
    custom({ ...CONTRACT, verify: (_body, _headers, url) => equals(queryOf(url)) }),
    (secret) => requestOf(BODY, { target: `/hooks/acme?k=${encodeURIComponent(secret)}` }),
  ],
  [
    "custom() that names its places",
    custom({
      ...CONTRACT,
      reads: ["header.X-Acme", "query.k", "body.proof"],
      headers: ["X-Acme"],
      verify: (body, headers, url) =>
        equals(headers["x-acme"]) && equals(queryOf(url)) && equals(JSON.parse(String(Buffer.from(body))).proof),
    }),
    (secret) =>
      requestOf(
        { ...BODY, proof: secret },
        { headers: { "X-Acme": secret }, target: `/hooks/acme?k=${encodeURIComponent(secret)}` },
      ),
  ],
];

describe.each(OWN)("the credentials of %s", (name, source, callback, statusOfFailed = 500) => {
  /** A wrong signature of a tenant waits for its secrets to be asked for again. */
  const tags = name.includes("tenants") ? ["full"] : [];
  const quiet = defineHandler({
    source: "source",
    type: "*",
    data: z.object({ clientState: z.string().optional(), proof: z.string().optional() }),
    async handle() {
      return {};
    },
  });
  const leaky = defineHandler({
    source: "source",
    type: "*",
    data: z.unknown() as z.ZodType<object>,
    handle({ event }) {
      throw new Error(`cannot handle ${JSON.stringify(event)}`);
    },
  });

  it("no row, line, error or response holds a tenant's secret or a signature of an own source", { tags }, () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const [genuine, forged] = [callback(SECRET), callback(OTHER)];
        expect(await send(receiver, "/hooks/acme", genuine)).toBe(statusOfFailed);
        expect(await send(receiver, "/hooks/acme", forged)).toBe(401);
        await until(async () => (await seen(receiver)).rows.length >= 2);
        const { rows, text } = await seen(receiver);
        for (const row of rows) {
          const sent = { ...fromRow(row), params: { shop: "acme" } };
          expect(await openPreset(source).scheme.verify(sent)).not.toHaveProperty("verified");
        }
        for (const secret of TEXTS) expect(text + stored(receiver)).not.toContain(secret);
      },
      { sources: { source }, handlers: [leaky], env: ENV },
    ),
  );

  it("the table of events without a handler holds no credential, and a backfill runs its rows", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await send(receiver, "/hooks/acme", callback(SECRET))).toBeLessThan(300);
        expect(await receiver.count("events")).toBe(1);
        for (const secret of TEXTS) expect(stored(receiver)).not.toContain(secret);
        const config = testConfig(receiver.target, ENV, { sources: { source } });
        const dryRun = {
          handler: "source",
          sinceMs: Number.POSITIVE_INFINITY,
          isDryRun: true,
          perSecond: 1_000,
        };
        expect(await backfillOnce({ config, handlers: [quiet], migrations: [] }, dryRun)).toMatchObject({
          accepted: 1,
          sample: { run: 1, failed: [] },
        });
      },
      { sources: { source }, env: ENV },
    ));
});
