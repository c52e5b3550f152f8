import { describe, expect, it } from "vitest";
import { createAdminClient, type SearchPageView } from "../../src/admin-client/index.ts";
import { github } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { conforms } from "../support/openapi.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const SEARCH = "/api/v1/search";
const clientOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN });

async function sendOrders(receiver: TestReceiver): Promise<void> {
  await receiver.send(payment({ event_id: "evt_long" }, { order_id: "order-1235", email: "ada@example.com" }));
  await receiver.send(payment({ event_id: "evt_short" }, { order_id: "order-123" }));
  await receiver.send(payment({ event_id: "evt_forged" }, { order_id: "order-9" }), { secret: "z".repeat(32) });
}

describeFullOnPostgres("GET /api/v1/search on %s", (dialect) => {
  it("an order id finds its callback before those whose id begins so, with the place of the match", () =>
    withReceiver(dialect, async (receiver) => {
      await sendOrders(receiver);
      const found = [];
      for (let cursor: string | undefined; ; ) {
        const answer = await receiver.admin(`${SEARCH}?q=order-123${cursor === undefined ? "" : `&cursor=${cursor}`}`);
        conforms(SEARCH, "get", answer);
        const { items, next_cursor } = answer.body as unknown as SearchPageView;
        found.push(...items.map(({ event_id, matched }) => ({ event_id, ...matched })));
        if (next_cursor === null) break;
        cursor = next_cursor;
      }
      expect(found).toEqual([
        { event_id: "evt_short", kind: "exact", where: "data.order_id", value: "order-123" },
        { event_id: "evt_long", kind: "prefix", where: "data.order_id", value: "order-1235" },
      ]);
    }));

  it("a page of results has the order of the shown times, after the order of matches", () =>
    withReceiver(dialect, async (receiver) => {
      await sendOrders(receiver);
      const idsOf = async (q: string) => {
        const { items } = await clientOf(receiver).search.find({ q });
        return items.map(({ event_id, claimed }) => event_id ?? claimed?.event_id);
      };
      // A search writes the rows that wait.
      expect(await idsOf("order-")).toEqual(["evt_forged", "evt_short", "evt_long"]);
      const earlier = "UPDATE oncehook_callbacks SET received_at = '2026-01-01T00:00:00.000Z'";
      await execute(receiver.target, `${earlier} WHERE outcome = 'signature_mismatch'`);
      expect(await idsOf("order-")).toEqual(["evt_short", "evt_long", "evt_forged"]);
      await execute(receiver.target, `${earlier} WHERE event_id = 'evt_short'`);
      expect(await idsOf("order-123")).toEqual(["evt_short", "evt_long"]);
    }));

  it("a refused callback is found by the id that it claims, which is marked as a claim", () =>
    withReceiver(dialect, async (receiver) => {
      await sendOrders(receiver);
      for (const q of ["evt_forged", "id:evt_forged", "outcome:refused"]) {
        const { items } = await clientOf(receiver).search.find({ q });
        expect([q, items.map(({ event_id, claimed }) => ({ event_id, claimed }))]).toEqual([
          q,
          [{ event_id: null, claimed: { event_id: "evt_forged", event_type: "payment_notify" } }],
        ]);
      }
    }));

  it("a refused callback is found by the type that its header or its body claims, and the type stays a claim", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await sendOrders(receiver);
        const headers = { "x-github-event": "push", "x-github-delivery": "d-1", "x-hub-signature-256": "sha256=00" };
        await fetch(`${receiver.publicOrigin}/api/github/callback`, { method: "POST", headers, body: "{}" });
        const { search, callbacks } = clientOf(receiver);
        for (const [q, type] of [
          ["type:push", "push"],
          ["type:pu* outcome:refused", "push"],
          ["type:payment_* outcome:refused", "payment_notify"],
        ] as const) {
          const { items } = await search.find({ q });
          expect([q, items]).toEqual([
            q,
            [expect.objectContaining({ event_type: null, claimed: expect.objectContaining({ event_type: type }) })],
          ]);
        }
        const { items } = await callbacks.list({ event_type: "push" });
        expect(items.map(({ event_type, claimed }) => [event_type, claimed?.event_id])).toEqual([[null, "d-1"]]);
        expect(receiver.lines.find(({ source }) => source === "github")).toMatchObject({ event_type: null });
      },
      { sources: { github: github({ secret: "x".repeat(32) }) } },
    ));
});

describe("GET /api/v1/search", () => {
  it("an e-mail, a request id and a filter find callbacks; a row has neither headers nor bodies", () =>
    withReceiver("sqlite", async (receiver) => {
      await sendOrders(receiver);
      const { search, callbacks } = clientOf(receiver);
      const [newest] = (await callbacks.list({ event_id: "evt_short" })).items;
      const queries = ["ada@example.com", `request:${newest?.request_id}`, "outcome:handled type:payment_*", "nowhere"];
      const found = await Promise.all(queries.map((q) => search.find({ q })));
      expect(found.map(({ items }) => items.map(({ event_id }) => event_id))).toEqual([
        ["evt_long"],
        ["evt_short"],
        ["evt_short", "evt_long"],
        [],
      ]);
      expect(found[3]).toEqual({ items: [], next_cursor: null, searching: null, progress: 1, searched_until: null });
      const fields = Object.keys(found[0]?.items[0] ?? {});
      expect(fields).toEqual(expect.not.arrayContaining(["headers", "body", "response_body"]));
    }));

  it.each([
    ["q=soruce:stripe", /^soruce: there is no such filter, .+ did you mean source:\?/],
    ["q=status:9", /^status: got "9", expected a status such as 401/],
    ["q=", /^q: got "", expected a text of 1 to 500 characters$/],
    ["q=a&cursor=5", /^cursor: got "5"/],
  ])("a search with ?%s is rejected with the reason", (query, says) =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await receiver.admin(`${SEARCH}?${query}`);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(says)]);
      conforms(SEARCH, "get", answer);
    }),
  );

  it("suggestions complete the last word from filters, sources, types and outcomes", () =>
    withReceiver("sqlite", async (receiver) => {
      const texts = async (q: string) => {
        const { items } = await clientOf(receiver).search.suggest(q);
        return items.map(({ text }) => text);
      };
      expect(await texts("")).toEqual(expect.arrayContaining(["source:", "outcome:", "source:platform"]));
      expect(await texts("order-1 sou")).toEqual(["source:", "source:platform"]);
      expect(await texts("outcome:fa")).toEqual(
        ["failed", "accepted_failed", "handler_failed", "commit_failed", "handshake_failed"].map(
          (outcome) => `outcome:${outcome}`,
        ),
      );
      expect((await texts("outcome:ign")).filter((text) => text === "outcome:ignored")).toHaveLength(1);
      expect(await texts("type:pay")).toEqual(["type:payment_notify"]);
      expect(await texts("since:")).toEqual(["since:1h", "since:24h", "since:3d", "since:7d", "since:30d"]);
      conforms(`${SEARCH}/suggestions`, "get", await receiver.admin(`${SEARCH}/suggestions?q=a`));
    }));

  it("a list of fifty callbacks takes at most 15 kB, compressed, without headers and bodies", () =>
    withReceiver("sqlite", async (receiver) => {
      for (let sent = 0; sent < 50; sent += 1)
        await receiver.send(payment({}, { order_id: `order-${sent}`, note: `${Math.random()}`.repeat(100) }));
      const headers = { authorization: `Bearer ${TOKEN}`, "accept-encoding": "gzip" };
      for (const path of ["/api/v1/callbacks?limit=50", `${SEARCH}?q=source:platform`]) {
        const response = await fetch(receiver.adminOrigin + path, { headers });
        expect(response.headers.get("content-encoding")).toBe("gzip");
        expect(Number(response.headers.get("content-length"))).toBeLessThan(15_000);
        const { items } = (await response.json()) as { items: object[] };
        expect(items).toHaveLength(50);
        expect(items[0]).not.toHaveProperty("body");
      }
      const plain = await fetch(`${receiver.adminOrigin}/api/v1/callbacks`, {
        headers: { ...headers, "accept-encoding": "gzip;q=0" },
      });
      expect(plain.headers.get("content-encoding")).toBeNull();
    }));
});
