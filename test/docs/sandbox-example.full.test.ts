import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runNode } from "../support/in-project.ts";
import { withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const blocks = readFileSync("docs/development.md", "utf8").matchAll(/```ts\n([\s\S]*?)```/g);
const script = [...blocks].map(([, text = ""]) => text).find((text) => text.includes("admin.sandbox")) ?? "";

async function withScript<T>(text: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(process.cwd(), "test", "sandbox-example-"));
  writeFileSync(join(folder, "try.ts"), text);
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("the sandbox script of docs/development.md tries every type, a rejection and a sign-in", () =>
  withReceiver("sqlite", async (receiver) => {
    const text = script
      .replace("http://127.0.0.1:8081", receiver.adminOrigin)
      .replace('process.env.ADMIN_TOKEN ?? ""', JSON.stringify(TOKEN));
    expect(text).not.toContain("process.env");
    const { code, output } = await withScript(text, (folder) => runNode(["try.ts"], folder));
    const lines = output.trim().split("\n");
    expect([code, lines.length]).toEqual([0, 11]);
    expect(lines[0]).toMatch(/^payment_notify v1 200 \{"status":"success","data":\{"order_id":"order-\w+"\}\}$/);
    expect(lines[6]).toBe("401");
    expect(lines[9]).toMatch(/^200 The receiver knew the state and the browser/);
    expect(lines[10]).toBe("true");
  }));
