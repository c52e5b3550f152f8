import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createAllowedAddresses, emailChannel, webhookChannel } from "../../src/outbox/index.ts";
import type { StoredNotification } from "../../src/store/index.ts";
import { freePort } from "../support/free-port.ts";
import { withHttpServer } from "../support/http-server.ts";
import { mailLogin, WEBHOOK_SECRET, withMailServer } from "../support/notified.ts";
import { until } from "../support/until.ts";

const page = readFileSync("docs/notifications.md", "utf8");
const NOTIFICATION: StoredNotification = {
  id: 1,
  idempotencyKey: "platform/evt-1/1",
  source: "platform",
  eventId: "evt-1",
  topic: "order.paid",
  payload: { order_id: "o1", amount: 10, event_id: "evt-1" },
  createdAt: "2026-01-01T00:00:00.000Z",
};
const LOOPBACK = createAllowedAddresses(["127.0.0.0/8"]);

/** The first block of the page in this language. */
function block(language: string): string {
  const [, found = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  return found;
}

function deliver(url: string): Promise<void> {
  const channel = webhookChannel({ url, secret: WEBHOOK_SECRET, addresses: LOOPBACK });
  const delivered = channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "webhook");
  return delivered.finally(() => channel.close?.());
}

async function sentTo(path: string): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  const sent = Promise.withResolvers<{ headers: IncomingHttpHeaders; body: string }>();
  return withHttpServer(
    async (request, response) => {
      sent.resolve({ headers: request.headers, body: await text(request) });
      response.end();
    },
    async (origin) => {
      await deliver(origin + path);
      return sent.promise;
    },
  );
}

/** Runs the page's receiver below the project, where its imports are found. */
async function withPagesReceiver(use: (url: string, printed: () => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(process.cwd(), "test", "notifications-example-"));
  const port = await freePort();
  writeFileSync(join(folder, "receiver.js"), block("js"));
  const env = { PORT: String(port), NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET };
  const child: ChildProcess = spawn(process.execPath, ["receiver.js"], { cwd: folder, env });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      printed += chunk;
    });
  try {
    const url = `http://127.0.0.1:${port}/hook`;
    await until(() =>
      fetch(url, { method: "POST" }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
    await use(url, () => printed);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("docs/notifications.md", () => {
  it("docs/notifications.md shows a request as it is sent, with its signature", async () => {
    const [head = "", body = ""] = block("http").split("\n\n");
    const [start, ...lines] = head.split("\n");
    const shown = Object.fromEntries(lines.map((line) => line.split(": ") as [string, string]));
    const { headers, body: sent } = await sentTo("/hook");
    expect(start).toBe("POST /hook HTTP/1.1");
    expect(body.trim()).toBe(sent);
    const { "webhook-id": id = "", "webhook-timestamp": timestamp, "webhook-signature": signature } = shown;
    const at = new Date(Number(timestamp) * 1000);
    expect(signature).toBe(new Webhook(WEBHOOK_SECRET).sign(id, at, sent));
    const own = { "webhook-timestamp": timestamp, "webhook-signature": signature };
    expect({ ...headers, ...own }).toMatchObject(shown);
    expect(page).toContain(WEBHOOK_SECRET);
  });

  it("the receiver of docs/notifications.md handles a notification once, however often it comes, and refuses others", () =>
    withPagesReceiver(async (url, printed) => {
      await deliver(url);
      await deliver(url);
      await until(() => printed().includes("order.paid"));
      expect(printed().match(/order\.paid/g)).toHaveLength(1);
      expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
    }));

  it("docs/notifications.md shows a mail as it is sent", () =>
    withMailServer({ secure: true }, async (server) => {
      const login = mailLogin();
      const channel = emailChannel({
        url: `smtps://${login}@127.0.0.1:${server.port}`,
        from: "oncehook@pay.example.com",
        to: ["shop@example.com", "books@example.com"],
        addresses: LOOPBACK,
        ca: [server.ca],
      });
      await channel.deliver(NOTIFICATION, AbortSignal.timeout(5_000), "email:shop@example.com");
      const sent = server.mails[0]?.text.replaceAll("@127.0.0.1>", "@mail.example.com>").split(/\r?\n/) ?? [];
      const shown = block("text").trimEnd().split("\n");
      expect(shown.length).toBeGreaterThan(10);
      expect(shown.filter((line) => !sent.includes(line))).toEqual([]);
    }));
});
