import { describe, expect, it } from "vitest";
import { MATCH_KINDS } from "../../src/domain/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { logRow } from "../support/log-row.ts";
import { find, indexerOf, SEGMENT_IDS } from "../support/value-index.ts";

const LONG_URL = "https://files.example.com/invoices/2026/11/28/invoice-000123456789-of-ada.pdf";
const BODIES = [
  (n: number) =>
    JSON.stringify({ order: `Order-${n}`, paid: n % 2 === 0, url: LONG_URL, note: "please refund Jane Doe" }),
  (n: number) =>
    `{"order":"Order-${n}","name":"Herr J\\u00fcrgen Gro\\u00df","inner":"{\\"site\\":\\"a\\\\/b\\\\/c\\"}"}`,
  (n: number) => `order=Order-${n}&paid=true&note=please+refund+Jane+Doe&email=jane%40example.com`,
];
const bodyOf = (n: number) => BODIES[n % BODIES.length]?.(n) ?? "";
const logOf = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    logRow({
      requestId: `request-${n}`,
      eventId: n % 7 === 0 ? `evt_${n}_${"x".repeat(70)}` : `evt_${n}`,
      url: `/api/shop/callback?back=${encodeURIComponent(`${LONG_URL}?row=${n % 4}`)}`,
      requestHeaders: JSON.stringify({ "x-github-delivery": `delivery-${n % 5}-abcdef` }),
      requestBody: bodyOf(n),
    }),
  );

/** By kind of match and place: ids, the address, the URL, a header, and the body, as JSON and as a form. */
const TERMS = [
  ...["request-12", "delivery-2-abcdef", "Order-30", "true", "5", "127.0", "evt_1", "tru"],
  ...["https://files.example.com/inv", "rder-3", '"refund Jane"', "Groß", "elivery-2", "b/c"],
  ...["id:evt_15", ".order:Order-4*", ".url:https://files*", ".paid:true"],
];

describe.each(DIALECTS)("a search over the callback log on %s", (dialect) => {
  it("two terms find the rows that each of them finds, by the weaker match, indexed or not", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(logOf(SEGMENT_IDS + 6));
      for (const indexed of [false, true]) {
        if (indexed) expect(await indexerOf(store).build()).toBe(1);
        const found = new Map<string, readonly string[]>();
        for (const term of TERMS) found.set(term, await find(store, term));
        for (const [place, one] of TERMS.entries())
          for (const other of indexed ? TERMS.slice(place) : TERMS.slice(0, place)) {
            const both = (await find(store, `${one} ${other}`, 30)).toSorted();
            expect([one, other, indexed, both]).toEqual([
              one,
              other,
              indexed,
              together(found.get(one), found.get(other)),
            ]);
          }
      }
    }));

  it("a value is found by how it begins and by its parts where no index holds it, in any encoding", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(
        logOf(SEGMENT_IDS).map((row, n) =>
          n < 3 ? row : { ...row, requestBody: "{}", url: "/", eventId: `evt_${n}` },
        ),
      );
      const queries = {
        "https://files.example.com/invoices/2026": ["text 2", "text 1", "text 0"],
        ".url:https://files.example.com/inv*": ["text 0"],
        tru: ["text 2", "text 0"],
        ".paid:tru*": ["text 2", "text 0"],
        evt_0_: ["text 0"],
        Groß: ["text 1"],
        "b/c": ["text 1"],
        '"refund Jane"': ["text 2", "text 0"],
        "delivery-2-abcdef refund": ["text 2"],
        "refund request-2": ["text 2"],
        elivery: [],
        "elivery refund": [],
      };
      for (const segments of [0, 1]) {
        if (segments > 0) expect(await indexerOf(store).build()).toBe(segments);
        for (const [query, expected] of Object.entries(queries))
          expect([query, segments, await find(store, query, 1)]).toEqual([query, segments, expected]);
      }
    }));
});

/** The rows of both, each by the weaker of its two matches. */
function together(one: readonly string[] = [], other: readonly string[] = []): string[] {
  const rank = (kind = "") => (MATCH_KINDS as readonly string[]).indexOf(kind);
  const kinds = new Map(other.map((match) => [match.split(" ")[1], match.split(" ")[0]]));
  return one
    .flatMap((match) => {
      const [kind = "", row = ""] = match.split(" ");
      const second = kinds.get(row);
      return second === undefined ? [] : [`${rank(kind) > rank(second) ? kind : second} ${row}`];
    })
    .toSorted();
}
