import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { elevenlabs, github, hmac, postmark } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres, fullOnPostgres, withMigrated } from "../support/databases.ts";
import { startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const SECRET = "a secret that GitHub was given";
const GITHUB_BYTES = 25_000_000;

/** Handles without keeping anything. */
const handlers = (source: string) => [
  defineHandler({ source, type: "push", data: z.looseObject({}), handle: () => ({}) }),
];

/** A JSON object of exactly so many bytes. */
function jsonOf(bytes: number, start = "x"): Buffer {
  const body = Buffer.alloc(bytes, "x");
  body.write(`{"text":"${start}`);
  body.write('"}', bytes - 2);
  return body;
}

let deliveries = 0;

async function push(receiver: TestReceiver, body: Buffer, source = "github") {
  deliveries += 1;
  const headers = {
    "x-github-event": "push",
    "x-github-delivery": `d-${deliveries}`,
    ...github({ secret: SECRET }).sign?.({ body, now: new Date() }),
  };
  const url = `${receiver.publicOrigin}/api/${source}/callback`;
  const response = await fetch(url, { method: "POST", body, headers });
  await response.arrayBuffer();
  return response.status;
}

describeFullOnPostgres("the longest body of a source on %s", (dialect) => {
  it(
    "a platform's largest body is received past MAX_BODY_BYTES, and one byte more returns 413",
    {
      tags: fullOnPostgres(dialect),
    },
    () =>
      withReceiver(
        dialect,
        async (receiver) => {
          expect(await push(receiver, jsonOf(GITHUB_BYTES))).toBe(200);
          expect(await push(receiver, jsonOf(GITHUB_BYTES + 1))).toBe(413);
          expect(await receiver.count("oncehook_records", "source = 'github'")).toBe(1);
        },
        { sources: { github: github({ secret: SECRET }) }, handlers: handlers("github") },
      ),
  );

  it(
    "bodies of a source's largest size follow one another through the room of one",
    {
      tags: "full",
    },
    () =>
      withReceiver(
        dialect,
        async (receiver) => {
          for (let at = 0; at < 3; at += 1) expect(await push(receiver, jsonOf(GITHUB_BYTES, String(at)))).toBe(200);
          expect(await receiver.count("oncehook_records", "source = 'github'")).toBe(3);
        },
        {
          sources: { github: github({ secret: SECRET }) },
          handlers: handlers("github"),
          env: { MAX_UNVERIFIED_BYTES: String(GITHUB_BYTES + 1) },
        },
      ),
  );

  it("maxBodyBytes of a source raises or lowers MAX_BODY_BYTES for its addresses alone", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await push(receiver, jsonOf(4_096), "short")).toBe(200);
        expect(await push(receiver, jsonOf(4_097), "short")).toBe(413);
        expect(await push(receiver, jsonOf(2_000_000), "long")).toBe(200);
        expect(await push(receiver, jsonOf(2_000_001), "long")).toBe(413);
        const platform = await receiver.send({}, { raw: jsonOf(1_048_577) });
        expect(platform.status).toBe(413);
      },
      {
        sources: {
          short: github({ secret: SECRET, maxBodyBytes: 4_096 }),
          long: github({ secret: SECRET, maxBodyBytes: 2_000_000 }),
        },
        handlers: [...handlers("short"), ...handlers("long")],
      },
    ));
});

describe.each([
  [2, []],
  [35, ["full"]],
])("a source whose platform sends files", (megabytes, tags) => {
  it(`the sound of a call and a mail with ${megabytes} MB of attachments are handled`, { tags }, () => {
    const sources = {
      calls: elevenlabs({ secret: SECRET }),
      mail: postmark({ secret: SECRET, user: "hook" }),
    };
    const data = z.looseObject({});
    const ofFiles = (["calls", "mail"] as const).map((source) =>
      defineHandler({ source, type: "*", data, handle: () => ({}) }),
    );
    return withReceiver(
      "sqlite",
      async (receiver) => {
        const deliver = async (source: keyof typeof sources, event: object) => {
          const body = JSON.stringify(event);
          const headers = sources[source].sign?.({ body: Buffer.from(body), now: new Date() }) ?? {};
          const url = `${receiver.publicOrigin}/api/${source}/callback`;
          const response = await fetch(url, { method: "POST", body, headers });
          return [response.status, await response.text()];
        };
        const full_audio = Buffer.alloc(2_000_000).toString("base64");
        const call = { type: "post_call_audio", data: { conversation_id: "conv_1", full_audio } };
        expect(await deliver("calls", call)).toEqual([200, expect.any(String)]);
        const Content = Buffer.alloc(megabytes * 1_000_000).toString("base64");
        const mail = { MessageID: "m-1", Attachments: [{ Name: "a.pdf", Content }] };
        expect(await deliver("mail", mail)).toEqual([200, expect.any(String)]);
        expect(await receiver.count("oncehook_records")).toBe(2);
      },
      { sources, handlers: ofFiles },
    );
  });
});

describe("contradictions of a source's longest body", () => {
  it("a receiver does not start with maxBodyBytes above MAX_UNVERIFIED_BYTES", () =>
    withMigrated("sqlite", async (target) => {
      const sources = { code: github({ secret: SECRET, maxBodyBytes: 3_000_000 }) };
      const started = startReceiver(target, { sources, env: { MAX_UNVERIFIED_BYTES: "2000000" } });
      await expect(started).rejects.toThrow(
        "MAX_UNVERIFIED_BYTES: got 2000000, expected at least the maxBodyBytes of sources.code (3000000)",
      );
    }));

  it("a platform's largest body above MAX_UNVERIFIED_BYTES is cut to it, with a warning at the start", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const warned = receiver.lines.map(({ msg }) => String(msg)).filter((line) => line.includes("GitHub"));
        expect(warned).toHaveLength(1);
        expect(warned[0]).toContain("sends bodies of up to 25000000: longer ones of the source github get 413");
        expect(await push(receiver, jsonOf(2_000_000))).toBe(200);
        expect(await push(receiver, jsonOf(2_000_001))).toBe(413);
      },
      {
        sources: { github: github({ secret: SECRET }) },
        handlers: handlers("github"),
        env: { MAX_UNVERIFIED_BYTES: "2000000" },
      },
    ));

  it("maxBodyBytes must be a whole number that MAX_BODY_BYTES could be", () => {
    const signed = { signature: { header: "X-S", encoding: "hex" }, signed: "{body}" } as const;
    const own = (maxBodyBytes: number) =>
      hmac({ secret: "s3cret", ...signed, id: "body.id", type: "body.type", maxBodyBytes });
    expect(own(1_024).settings).toEqual({ maxBodyBytes: 1_024 });
    for (const wrong of [1_023, 67_108_865, 4_096.5, Number.NaN])
      expect(() => own(wrong)).toThrow(`hmac: \`maxBodyBytes\`: got ${wrong}, expected a whole number from`);
  });
});

describeFullOnPostgres("rates and addresses of a source on %s", (dialect) => {
  const env = { RATE_LIMIT_DEFAULT: "4/hour", RATE_LIMIT_CALLBACK: "2/hour" };
  const ownHandlers = [...handlers("quick"), ...handlers("open"), ...handlers("usual")];
  const statusesOf = async (receiver: TestReceiver, source: string, count: number) => {
    const statuses: number[] = [];
    for (let at = 0; at < count; at += 1) statuses.push(await push(receiver, jsonOf(64, String(at)), source));
    return statuses;
  };

  it.each(["memory", "database"])("a source's rate is the only limit of its addresses, counted in %s", (store) =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await statusesOf(receiver, "quick", 7)).slice(5)).toEqual([200, 429]);
        expect(await statusesOf(receiver, "open", 8)).not.toContain(429);
        // Nor has a source without a rate SPEC's limits, which are those of `platform`.
        expect(await statusesOf(receiver, "usual", 12)).not.toContain(429);
        const sent = [await receiver.send({}), await receiver.send({}), await receiver.send({})];
        expect(sent.map(({ status }) => status === 429)).toEqual([false, false, true]);
      },
      {
        sources: {
          quick: github({ secret: SECRET, rate: "6/minute" }),
          open: github({ secret: SECRET, rate: "off" }),
          usual: github({ secret: SECRET }),
        },
        handlers: ownHandlers,
        env: { ...env, RATE_LIMIT_STORE: store },
      },
    ),
  );

  it("a source's addresses take the place of IP_ALLOW_LIST, both ways", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const body = jsonOf(64);
        expect(await push(receiver, body, "quick")).toBe(200);
        expect(await push(receiver, body, "open")).toBe(403);
        expect((await receiver.send({})).status).toBe(403);
      },
      {
        sources: {
          quick: github({ secret: SECRET, addresses: ["127.0.0.0/8", "::1"] }),
          open: github({ secret: SECRET, addresses: ["192.0.2.0/24"] }),
        },
        handlers: [...handlers("quick"), ...handlers("open")],
        env: { IP_ALLOW_LIST: "192.0.2.0/24" },
      },
    ));
});

describe("a callback that is refused before it is verified", () => {
  const CASES = [
    { settings: { rate: "1/minute" }, status: 429, outcome: "too_many_requests", body: "later" },
    { settings: { maxBodyBytes: 1_024 }, status: 413, outcome: "body_too_large", body: "no" },
    { settings: { addresses: ["192.0.2.0/24"] }, status: 403, outcome: "address_not_allowed", body: "no" },
  ];

  it.each(CASES)("$status gets its platform's response, and is logged with its source", (one) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const url = `${receiver.publicOrigin}/api/shop/callback`;
        const post = () => fetch(url, { method: "POST", body: jsonOf(2_000) });
        await (await post()).text();
        const last = await post();
        expect({ status: last.status, text: await last.text() }).toEqual({
          status: one.status,
          text: one.body,
        });
        const logged = `source = 'shop' AND outcome = '${one.outcome}' AND response_status = ${one.status}`;
        await until(async () => (await receiver.count("oncehook_callbacks", logged)) > 0);
      },
      {
        sources: {
          shop: shop({ ...one.settings, responses: { busy: { body: "later" }, refused: { body: "no" } } }),
        },
      },
    ),
  );
});

describe("mistakes in a source's rate and addresses", () => {
  it("a receiver does not start with a rate or addresses that are none", () =>
    withMigrated("sqlite", async (target) => {
      const started = (settings: { rate?: string; addresses?: string[] }) =>
        startReceiver(target, { sources: { code: github({ secret: SECRET, ...settings }) } });
      await expect(started({ rate: "0/minute" })).rejects.toThrow(
        'sources.code.rate: got "0/minute", expected a count per second, minute, hour or day',
      );
      await expect(started({ addresses: ["192.0.2.0/33"] })).rejects.toThrow("sources.code.addresses: got");
      await expect(started({ addresses: [] })).rejects.toThrow("sources.code.addresses: got");
    }));
});
