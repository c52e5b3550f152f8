import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";
import type { ConfigFile } from "../../src/config/index.ts";
import type { Contract, Scheme, SignedRequest } from "../../src/sources/index.ts";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { runNode } from "../support/in-project.ts";
import { NOW, ORIGIN, opened, sent } from "../support/preset-source.ts";

const PAGES = ["docs/sources.md", "docs/own-sources.md"];
const BLOCKS = new Map(PAGES.flatMap((page) => [...namedBlocks(page)]));
const SECONDS = String(NOW.getTime() / 1000);
const SECRET = "a secret of the documentation";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync("ed25519");
const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const hmac = (text: string, encoding: "hex" | "base64") => createHmac("sha256", SECRET).update(text).digest(encoding);

const ENVIRONMENT = {
  STRIPE_SECRET: SECRET,
  GITHUB_SECRET: SECRET,
  WECHAT_PAY_API_KEY: "an APIv3 key has 32 characters..",
  WECHAT_PAY_KEY_ID: "PUB_KEY_ID_0114232134912410000000000000",
  WECHAT_PAY_PUBLIC_KEY: pem(rsa.publicKey),
  ACME_SECRET: SECRET,
  PARTNER_TOKEN: SECRET.replaceAll(" ", "-"),
  BANK_PUBLIC_KEY: pem(rsa.publicKey),
  PEER_PUBLIC_KEY: pem(ed25519.publicKey),
  LEGACY_SECRET: SECRET,
  MAIL_SECRET: SECRET,
  META_APP_SECRET: SECRET,
  SLACK_SECRET: SECRET,
  META_VERIFY_TOKEN: "verify-token",
};

/** Runs the block as a configuration file. */
async function configOf(name: string): Promise<ConfigFile> {
  for (const [variable, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(variable, value);
  try {
    return await withFiles([[`${name}.config.ts`, BLOCKS.get(name) ?? ""]], async (folder) => {
      const module = await import(pathToFileURL(join(folder, `${name}.config.ts`)).href);
      return module.default as ConfigFile;
    });
  } finally {
    vi.unstubAllEnvs();
  }
}

async function openedSource(name: string, source: string): Promise<{ scheme: Scheme; contract: Contract }> {
  const definition = (await configOf(name)).sources?.[source];
  if (definition === undefined) throw new Error(`the block ${name} has no source ${source}`);
  return opened(definition);
}

const BODY = { id: "evt-1", type: "order.placed", kind: "order.placed", event_type: "order.placed" };
const TEXT = JSON.stringify(BODY);

function messageSigned(): SignedRequest {
  const digest = `sha-256=:${createHash("sha256").update(TEXT).digest("base64")}:`;
  const parameters = `("@method" "@path" "content-digest");created=${SECONDS};keyid="peer-2026"`;
  const lines = ['"@method": POST', '"@path": /api/source/callback', `"content-digest": ${digest}`];
  const base = [...lines, `"@signature-params": ${parameters}`].join("\n");
  const signature = sign(null, Buffer.from(base), ed25519.privateKey).toString("base64");
  const headers = {
    "Content-Digest": digest,
    "Signature-Input": `s=${parameters}`,
    Signature: `s=:${signature}:`,
  };
  return sent(BODY, { headers });
}

const ACME = {
  "X-Acme-Time": SECONDS,
  "X-Acme-Signature": `sha256=${hmac(`${SECONDS}.${TEXT}`, "hex")}`,
  "X-Acme-Event": "order.placed",
};
const BANK = {
  "X-Delivery-Id": "evt-1",
  "X-Signature-SHA256": sign("sha256", Buffer.from(TEXT), rsa.privateKey).toString("base64"),
};
const LEGACY = createHash("sha512").update(`${SECRET}${ORIGIN}/api/source/callback${TEXT}`).digest("base64");

describe("the examples of docs/sources.md and docs/own-sources.md", () => {
  it.each([
    ["acme", "acme", sent(BODY, { headers: ACME }), "evt-1"],
    ["partner", "partner", sent(BODY, { headers: { Authorization: `Bearer ${ENVIRONMENT.PARTNER_TOKEN}` } }), "evt-1"],
    ["bank", "bank", sent(BODY, { headers: BANK }), "evt-1"],
    ["fediverse", "peer", messageSigned(), "evt-1"],
    [
      "legacy",
      "legacy",
      sent(BODY, { headers: { "X-Legacy-Digest": LEGACY } }),
      createHash("sha256").update(TEXT).digest("hex"),
    ],
  ])("%s takes an authentic callback, refuses a changed one and reads the event", async (name, source, request, id) => {
    const { scheme, contract } = await openedSource(name, source);
    expect(await scheme.verify(request)).toMatchObject({ verified: [{ index: 0 }] });
    const isToken = name === "partner";
    const changed = isToken ? { ...request, headers: {} } : { ...request, body: Buffer.from(`${TEXT} `) };
    expect(await scheme.verify(changed)).toMatchObject({ kind: "refused" });
    expect(contract.read(request)).toMatchObject({
      event: { json: { event_id: id, event_type: "order.placed", data: BODY } },
    });
  });

  it("the batch is several events", async () => {
    const text = JSON.stringify({
      events: [
        { id: "1", event: "open" },
        { id: "2", event: "click" },
      ],
    });
    const request = sent(text, { headers: { "X-Mail-Signature": hmac(text, "base64") } });
    const { scheme, contract } = await openedSource("batches", "mail");
    expect(await scheme.verify(request)).toHaveProperty("verified");
    expect(contract.read(request)).toMatchObject({
      kind: "batch",
      events: [{ eventId: "1" }, { eventId: "2" }],
    });
  });

  it("the handshake is answered with its text, and another token is refused", async () => {
    const { contract } = await openedSource("handshakes", "meta");
    const ask = (token: string) => {
      const query = `?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`;
      return contract.challenge?.(sent("", { method: "GET", query }));
    };
    expect(await ask("verify-token")).toMatchObject({ status: 200, body: "1158201444" });
    expect(await ask("other")).toMatchObject({ code: "token_mismatch" });
  });

  it("the platforms have their names, paths and handlers", async () => {
    const { sources = {}, handlers = [] } = await configOf("platforms");
    expect(Object.entries(sources).map(([name, { preset }]) => [name, preset])).toEqual([
      ["billing", "stripe"],
      ["code", "github"],
      ["wechat", "wechat-pay"],
    ]);
    expect(sources.code?.settings.path).toBe("/hooks/github");
    expect(handlers.map(({ type }) => type)).toEqual(["invoice.*", "issues"]);
  });

  it("each answer mode is shown once", async () => {
    const { sources = {} } = await configOf("answers");
    expect(Object.values(sources).map(({ settings }) => settings.answer)).toEqual([
      "inline",
      "after",
      { within: "2s" },
    ]);
  });

  it("the source of one's own takes fewer than 20 lines", () => {
    expect(BLOCKS.get("acme")?.trim().split("\n").length).toBeLessThan(20);
  });

  it("the test of acme passes under Node's own test runner", () =>
    withFiles(
      [
        ["oncehook.config.ts", BLOCKS.get("acme") ?? ""],
        ["acme.test.ts", BLOCKS.get("test") ?? ""],
      ],
      async (folder) => {
        const { code, output } = await runNode(["--test", "--test-reporter=tap", "acme.test.ts"], folder);
        expect(output).toContain("ok 1 - a callback of acme is stored once");
        expect(code).toBe(0);
      },
    ));

  it("there are eleven examples, which examples-compile compiles", () => {
    expect(BLOCKS.size).toBe(11);
  });

  it.each(PAGES)("no TypeScript of %s is left unnamed, and so unchecked", (page) => {
    expect(readFileSync(page, "utf8").match(/```ts\n/g)).toBeNull();
  });
});
