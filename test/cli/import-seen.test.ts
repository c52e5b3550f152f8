import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { importSeenOnce } from "../../src/app/index.ts";
import type { Handler } from "../../src/index.ts";
import type { SeenLine } from "../../src/retry/index.ts";
import { checkTarget } from "../support/check-target.ts";
import { runCommandLine } from "../support/command.ts";
import { describeFullOnPostgres, type Target, withDatabase, withMigrated } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { withFolder } from "../support/folder.ts";
import { testConfig } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { backfill, handlerOf, IDS, storeTen, withShop } from "../support/stored-events.ts";
import { until } from "../support/until.ts";

type Seen = Pick<Extract<SeenLine, { id: unknown }>, "id" | "type" | "processedAt">;

async function* linesOf(events: readonly Seen[]): AsyncGenerator<SeenLine> {
  for (const [index, event] of events.entries()) yield { line: index + 1, ...event };
}

const imported = (
  target: Target,
  handlers: readonly Handler[],
  events: readonly Seen[],
  { sources = { shop: shop() }, source = "shop", tenant = undefined as string | undefined, isDryRun = false } = {},
) =>
  importSeenOnce(
    { config: testConfig(target, {}, { sources }), handlers, migrations: [] },
    { source, tenant, isDryRun, events: linesOf(events) },
  );

const seen = (...ids: string[]): Seen[] => ids.map((id) => ({ id }));
const broken = async (target: Target) =>
  (await checkTarget(target)).invariants.filter(({ violations }) => violations > 0).map(({ name }) => name);
const ran = (target: Target) => rowsOf(target, "SELECT source, event_id FROM oncehook_notifications");

describeFullOnPostgres("an import of seen events on %s", (dialect) => {
  it("the redelivery of an imported event runs no handler of any name, and is answered already_processed", () =>
    withMigrated(dialect, async (target) => {
      const handlers = [handlerOf(), handlerOf("audit")];
      const report = await imported(target, handlers, [{ id: "evt_1" }, { id: "evt_2", type: "order" }]);
      expect(report).toMatchObject({ imported: 2, alreadyThere: 0, refused: 0 });
      await withShop(target, { handlers }, async (receiver) => {
        for (const id of ["evt_1", "evt_2"])
          expect((await deliverToShop(receiver, { id })).body).toEqual({ status: "already_processed" });
        expect((await deliverToShop(receiver, { id: "evt_3" })).body.status).toBe("success");
        expect(receiver.lines.filter(({ msg }) => /body/.test(String(msg)))).toEqual([]);
        const { status, body } = await receiver.admin("/api/v1/events/shop/evt_1");
        expect([status, body]).toMatchObject([200, { event: { result: { imported: true } } }]);
      });
      expect((await ran(target)).map(({ event_id }) => event_id)).toEqual(["evt_3", "evt_3"]);
      expect(await broken(target)).toEqual([]);
    }));

  it("an import beside an event that failed here refuses it, so that it gets no record and no second effect", () =>
    withMigrated(dialect, async (target) => {
      const handlers = [handlerOf(undefined, "order", () => true)];
      await withShop(target, { handlers, retryPollMs: 3_600_000 }, async (receiver) => {
        expect((await deliverToShop(receiver, { id: "evt_1" })).status).toBe(500);
        const report = await imported(target, handlers, seen("evt_1", "evt_2"));
        expect(report).toMatchObject({ imported: 1, refused: 1, reasons: [{ line: 1 }] });
        expect(report.reasons[0]?.reason).toContain("oncehook discard");
      });
      expect(await rowsOf(target, "SELECT event_id FROM oncehook_records")).toEqual([{ event_id: "evt_2" }]);
      expect(await broken(target)).toEqual([]);
    }));

  it("a backfill runs no stored event that another program handled", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const handlers = [handlerOf()];
      expect(await imported(target, handlers, seen("evt_1", "evt_2"))).toMatchObject({ imported: 0, alreadyThere: 2 });
      expect(await backfill(target, handlers)).toMatchObject({ accepted: 8, alreadyTaken: 2 });
      await withShop(target, { handlers }, () => until(async () => (await ran(target)).length === 8));
      const expected = IDS.filter((id) => id !== "evt_1" && id !== "evt_2");
      expect((await ran(target)).map(({ event_id }) => event_id).toSorted()).toEqual(expected);
      expect(await broken(target)).toEqual([]);
    }));

  it("a thousand ids are imported once, whichever stand in the input twice", () =>
    withMigrated(dialect, async (target) => {
      const ids = Array.from({ length: 1_000 }, (_, index) => `evt_${index}`);
      const twice = seen(...ids, ...ids);
      await imported(target, [], []);
      expect(await imported(target, [], twice, { isDryRun: true })).toMatchObject({ imported: expect.any(Number) });
      expect(await countOf(target, "oncehook_records")).toBe(0);
      expect(await imported(target, [], twice)).toMatchObject({ imported: 1_000, alreadyThere: 1_000 });
      expect(await imported(target, [], twice)).toMatchObject({ imported: 0, alreadyThere: 2_000 });
      expect(await countOf(target, "oncehook_records")).toBe(1_000);
    }));

  it("the events of a tenant are imported for it only", () =>
    withMigrated(dialect, async (target) => {
      const sources = { shop: shop({ path: "/hooks/:shop", secret: () => "the secret of the shop" }) };
      await expect(imported(target, [], seen("evt_1"), { sources })).rejects.toThrow("--tenant: is missing");
      await imported(target, [], seen("evt_1"), { sources, tenant: "acme" });
      expect(await rowsOf(target, "SELECT source FROM oncehook_records")).toEqual([{ source: "shop/acme" }]);
      await expect(imported(target, [], seen("evt_1"), { tenant: "acme" })).rejects.toThrow("has no tenants");
    }));
});

describe("the command import-seen", () => {
  const PLATFORMS = pathToFileURL(resolve("src/sources/platforms/index.ts")).href;
  const CONFIG = `import { hmac } from ${JSON.stringify(PLATFORMS)};
const signature = { header: "X-Signature", encoding: "hex" };
const shop = { secret: "the secret of the shop", signature, signed: "{body}", type: "body.type" };
export default { sources: {
  shop: hmac({ ...shop, id: "body.id" }),
  plain: hmac({ ...shop, id: "sha256" }),
} };
`;

  /** Runs the command over inputs, each a file of its own. */
  type Run = (text: string | Buffer, ...args: string[]) => ReturnType<typeof runCommandLine>;
  const withCommand = (use: (run: Run, target: Target) => Promise<void>) =>
    withDatabase("sqlite", (target) =>
      withFolder(async (folder) => {
        writeFileSync(join(folder, "oncehook.config.ts"), CONFIG);
        const env = { ...CHILD_ENVIRONMENT, DATABASE_URL: target.url };
        const run: Run = (text, ...args) => {
          writeFileSync(join(folder, "seen"), text);
          return runCommandLine(["import-seen", "--file", "seen", ...args], env, folder);
        };
        await runCommandLine(["migrate"], env, folder);
        await use(run, target);
      }),
    );
  const rows = (target: Target) =>
    rowsOf(target, "SELECT event_id, event_type, processed_at FROM oncehook_records ORDER BY event_id");

  it.each([
    ["ids", "\uFEFFevt_1\r\n\r\nevt_2", ""],
    ["CSV", 'event_id,type,received_at\nevt_1,order,2025-01-02 03:04:05.678+00\nevt_2,"order",\n', "order"],
    [
      "NDJSON",
      '{"id":"evt_1","processed_at":"2025-01-02T03:04:05.678Z","type":"order","amount":1}\n{"id":"evt_2","type":"order"}\n',
      "order",
    ],
  ])("import-seen reads %s", (_format, text, event_type) =>
    withCommand(async (run, target) => {
      expect(await run(text, "shop", "--dry-run")).toMatchObject({
        code: 0,
        stdout: "shop: 2 events would be imported; nothing was changed; 0 already there, 0 refused\n",
      });
      const { code, stdout } = await run(text, "shop");
      expect([code, stdout]).toEqual([0, "shop: 2 events imported; 0 already there, 0 refused\n"]);
      const processed_at = event_type === "" ? expect.any(String) : "2025-01-02T03:04:05.678Z";
      expect(await rows(target)).toEqual([
        { event_id: "evt_1", event_type, processed_at },
        { event_id: "evt_2", event_type, processed_at: expect.any(String) },
      ]);
    }),
  );

  it("import-seen imports the other lines where some are refused, names these, and exits with 1", () =>
    withCommand(async (run, target) => {
      const text = [
        "id,type,processed_at",
        "evt_1,order,2025-01-02T03:04:05Z",
        ",order,",
        `${"x".repeat(256)},order,`,
        "evt_\u0007,order,",
        " evt_2,order,",
        "evt_3,order,yesterday",
        "evt_4,order,2999-01-01T00:00:00Z",
        "evt_5,order.*,",
        "evt_6",
      ].join("\n");
      const { code, stdout } = await run(text, "shop", "--json");
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toEqual({
        ...{ source: "shop", imported: 1, alreadyThere: 0, refused: 8 },
        reasons: [
          { line: 3, reason: "id: missing; expected a string" },
          { line: 4, reason: "id: is longer than 255 bytes" },
          { line: 5, reason: "id: holds control characters" },
          { line: 6, reason: "id: begins or ends with a space, which is a part of an id" },
          { line: 7, reason: "processed_at: expected a time such as 2026-11-27T10:59:24Z" },
          { line: 8, reason: "processed_at: is in the future" },
          { line: 9, reason: "type: expected an event type" },
          { line: 10, reason: "expected 3 columns of CSV" },
        ],
      });
      expect(await countOf(target, "oncehook_records")).toBe(1);
    }));

  it.each([
    ["a source that does not exist", "evt_1", "shopp", 'there is no source "shopp"'],
    ["a source whose key is no id", "evt_1", "plain", 'the key of an event of "plain" is no id of the platform'],
    ["another column", "id,body\nevt_1,{}", "shop", 'no such column "body"; there are id, type and processed_at'],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x0a]), "shop", "the input is no UTF-8"],
  ])("import-seen refuses %s and imports nothing", (_what, text, source, message) =>
    withCommand(async (run) => {
      const { code, stderr } = await run(text, source);
      expect(code).toBe(1);
      expect(stderr).toContain(message);
    }),
  );
});
