import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { runCommandLine } from "../support/command.ts";
import { withFolder } from "../support/folder.ts";
import { payment, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const production = readFileSync("docs/production.md", "utf8");
const scaling = readFileSync("docs/scaling.md", "utf8");
const STRIPE = "SOURCES=stripe\nSTRIPE_SECRET=whsec_0123456789abcdef";
const items = production.split(/^- \[ \] /m).slice(1);
const prose = production.replaceAll(/^```[\s\S]*?^```$/gm, "");
const codes = [...prose.matchAll(/`([^`]+)`/g)].map(([, code]) => String(code));

describe("docs/production.md", () => {
  it("each line of the production checklist names a command or a page that verifies it", () => {
    expect(items.length).toBeGreaterThan(25);
    expect(items.filter((item) => !/`[^`]+ [^`]+`|as above|\]\(\w+\.md\)/.test(item))).toEqual([]);
  });

  it("docs/production.md names only commands and options that exist", () => {
    const { commands } = createProgram();
    const lines = codes.filter((code) => code.startsWith("npx oncehook "));
    expect(lines.length).toBeGreaterThan(7);
    for (const line of lines) {
      const [, , name, ...words] = line.split(" ");
      const options = commands.find((command) => command.name() === name)?.options.map(({ long }) => long);
      expect([line, options === undefined]).toEqual([line, false]);
      const unknown = words.filter((word) => word.startsWith("--") && !options?.includes(word));
      expect([line, unknown]).toEqual([line, []]);
    }
  });

  it("the checklist's callbacks return what it says, in its set-up for Stripe", () =>
    withReceiver(
      "sqlite",
      ({ publicOrigin }) =>
        withFolder(async (folder) => {
          writeFileSync(join(folder, ".env.production"), `${STRIPE}\nCALLBACK_BASE_URL=${publicOrigin}\n`);
          const sent = items.flatMap((item) => /returns `(\w+)`[^`]+`npx oncehook (send [^`]+)`/.exec(item) ?? []);
          expect(sent).toHaveLength(6);
          for (let at = 0; at < sent.length; at += 3) {
            const args = String(sent[at + 2]).split(" ");
            const { code, stdout } = await runCommandLine(args, CHILD_ENVIRONMENT, folder);
            expect([code, stdout]).toEqual([0, expect.stringContaining(`"status":"${sent[at + 1]}"`)]);
          }
        }),
      { sources: { stripe: stripe({ secret: "whsec_0123456789abcdef" }) } },
    ));

  it("docs/production.md speaks of files of deploy/ that exist", () => {
    const files = codes.filter((code) => /^deploy\/\w[\w./-]+$/.test(code));
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it("the admin listener answers every request of docs/production.md", () =>
    withReceiver("sqlite", async (receiver) => {
      const paths = [...production.matchAll(/127\.0\.0\.1:8081(\/[^'\s`]*)/g)].map(([, path]) => String(path));
      expect(new Set(paths).size).toBeGreaterThan(3);
      for (const path of paths) expect([path, (await receiver.admin(path)).status]).toEqual([path, 200]);
      await receiver.send(payment());
      const { body } = await receiver.admin("/api/v1/callbacks?limit=1");
      expect(JSON.stringify(body)).toContain('"remote_address":"127.0.0.1"');
    }));
});

describe("docs/scaling.md", () => {
  it("docs/scaling.md names only metrics that a receiver has", () =>
    withReceiver("sqlite", async (receiver) => {
      await receiver.send(payment());
      const metrics = String((await receiver.admin("/metrics")).body.text);
      const named = [...scaling.matchAll(/\b(?:oncehook|callback|process)_[a-z_]+(?:_total|_seconds)\b/g)];
      expect(named.length).toBeGreaterThan(2);
      expect(named.map(([name]) => name).filter((name) => !metrics.includes(`# TYPE ${name} `))).toEqual([]);
    }));

  it("docs/scaling.md calculates as it says", () => {
    const rows = [...scaling.matchAll(/^\| [^|]+\| (\d+) µs \| ([\d,]+) a second \|$/gm)];
    expect(rows.length).toBe(4);
    for (const [row, micros, rate] of rows) {
      const claimed = Number(String(rate).replace(",", ""));
      expect([row, Math.abs(1_000_000 / Number(micros) - claimed) < 1]).toEqual([row, true]);
    }
  });
});
