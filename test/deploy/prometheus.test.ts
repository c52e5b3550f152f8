import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { freePort } from "../support/free-port.ts";
import { isOnThePath } from "../support/on-the-path.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { dashboardQueries, RULES_FILE } from "./rule-file.ts";

const FOLDER = "deploy/prometheus";
const PATIENCE_MS = 120_000;
const run = promisify(execFile);

const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  async handle() {
    throw new Error("this handler always fails");
  },
});

const MISSING = ["promtool", "prometheus"].filter((program) => !isOnThePath(program));

interface QueryAnswer {
  readonly status: string;
  readonly data: { readonly result: readonly { readonly value: [number, string] }[] };
}

interface RulesAnswer {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly { name: string; health: string; lastError?: string; state?: string }[];
    }[];
  };
}

/** A real Prometheus with the configuration and the rules that are delivered, for this receiver alone. */
async function withPrometheus<T>(receiver: TestReceiver, use: (url: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-prometheus-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  try {
    const delivered = await readFile(`${FOLDER}/prometheus.yml`, "utf8");
    const configured = delivered
      .replace("127.0.0.1:8081", new URL(receiver.adminOrigin).host)
      .replaceAll("interval: 15s", "interval: 1s");
    await writeFile(join(folder, "prometheus.yml"), configured);
    await copyFile(RULES_FILE, join(folder, "oncehook.rules.yml"));
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    child = spawn("prometheus", args, { stdio: "ignore" });
    return await use(`http://127.0.0.1:${port}`);
  } finally {
    if (child !== undefined && child.exitCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  }
}

async function ask<T>(url: string, path: string): Promise<T | undefined> {
  const response = await fetch(url + path).catch(() => undefined);
  return response === undefined ? undefined : ((await response.json().catch(() => undefined)) as T | undefined);
}

const query = (url: string, expr: string) => ask<QueryAnswer>(url, `/api/v1/query?query=${encodeURIComponent(expr)}`);

async function sampleOf(url: string, expr: string): Promise<number | undefined> {
  const value = (await query(url, expr))?.data?.result[0]?.value[1];
  return value === undefined ? undefined : Number(value);
}

if (MISSING.length > 0) {
  it.skip(`Prometheus is not asked: ${MISSING.join(" and ")} not found on the PATH (apt-get install prometheus)`, () => {});
} else {
  describe("promtool", () => {
    it.each([
      ["check", "rules", "oncehook.rules.yml"],
      ["check", "config", "prometheus.yml"],
      ["test", "rules", "oncehook.rules.test.yml"],
      ["test", "rules", "oncehook.rules.weeks.test.yml"],
    ])(
      "promtool accepts %s %s %s",
      async (...args) => {
        const { stdout } = await run("promtool", args, { cwd: FOLDER });
        expect(stdout).toContain("SUCCESS");
        expect(stdout).not.toContain("FAILED");
      },
      600_000,
    );

    it("promtool tests each alert of the rules, once when it fires at the least", async () => {
      const tests = await readFile(`${FOLDER}/oncehook.rules.test.yml`, "utf8");
      const rules = await readFile(RULES_FILE, "utf8");
      const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
      expect(alerts.filter((name) => !tests.includes(`{alertname="${name}"}`))).toEqual([]);
    });
  });

  describe("a real Prometheus", () => {
    it(
      "Prometheus scrapes a receiver, evaluates every rule and query, and fires for exhausted failures",
      () =>
        withReceiver(
          "sqlite",
          (receiver) =>
            withPrometheus(receiver, async (url) => {
              await until(async () => (await sampleOf(url, 'up{job="oncehook"}')) === 1, PATIENCE_MS);
              await receiver.send(payment());
              expect((await receiver.send(event("failing", {}))).status).toBe(500);
              const handled = 'callback_requests_total{event_type="payment_notify",status="200"}';
              await until(async () => (await sampleOf(url, handled)) === 1, PATIENCE_MS);
              const broken: string[] = [];
              for (const expr of dashboardQueries()) {
                if ((await query(url, expr))?.status !== "success") broken.push(expr);
              }
              expect(broken).toEqual([]);
              const rules = async () =>
                (await ask<RulesAnswer>(url, "/api/v1/rules"))?.data.groups.flatMap((group) => group.rules) ?? [];
              await until(async () => {
                const all = await rules();
                return all.length > 10 && all.every(({ health }) => health !== "unknown");
              }, PATIENCE_MS);
              expect((await rules()).filter(({ health }) => health !== "ok")).toEqual([]);
              const fired = 'ALERTS{alertname="OncehookFailuresExhausted",alertstate="firing"}';
              await until(async () => (await sampleOf(url, fired)) === 1, PATIENCE_MS);
              expect(await sampleOf(url, "oncehook_database_up")).toBe(1);
              expect(await sampleOf(url, "oncehook_waiting_callbacks_limit")).toBe(1_000);
            }),
          { env: { RETRY_MAX: "0" }, handlers: [failing] },
        ),
      300_000,
    );
  });
}
