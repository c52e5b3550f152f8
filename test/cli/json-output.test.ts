import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

type Run = (...args: string[]) => Promise<Ended>;

/** A receiver that serves, and commands beside it with its variables, in a folder of their own. */
function withCommands(use: (run: Run, receiver: TestReceiver) => Promise<void>): Promise<void> {
  return withReceiver("sqlite", async (receiver) => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-json-"));
    const env = {
      ...CHILD_ENVIRONMENT,
      ADMIN_PORT: new URL(receiver.adminOrigin).port,
      PORT: new URL(receiver.publicOrigin).port,
      DATABASE_URL: receiver.target.url,
    };
    try {
      await use((...args) => runCommandLine(args, env, folder), receiver);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

describe("--json", () => {
  it("send prints the request and the response", () =>
    withCommands(async (run) => {
      const { code, stdout } = await run("send", "payment_notify", "--id", "e1", "--json");
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        url: expect.stringMatching(/^http:.+\/api\/platform\/callback$/),
        event: { event_id: "e1", event_type: "payment_notify" },
        status: 200,
        answer: { status: "success" },
      });
    }));

  it("--json prints a refusal as well, with exit code 1", () =>
    withCommands(async (run) => {
      const { code, stdout } = await run("send", "nobody_knows", "--data", "{}", "--json");
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ status: 400, answer: { error: expect.any(String) } });
    }));

  it("--json prints the doctor's findings, with exit code 1 for a failure among them", () =>
    withCommands(async (run) => {
      const well = await run("doctor", "--json");
      expect(well.code).toBe(0);
      const findings = JSON.parse(well.stdout);
      expect(findings).toContainEqual({ level: "ok", check: "secrets", message: expect.any(String) });
      const ill = await run("doctor", "--registered", "http://127.0.0.1:1/other", "--json");
      expect(ill.code).toBe(1);
      expect(JSON.parse(ill.stdout)).toContainEqual(expect.objectContaining({ level: "failure" }));
    }));

  it("--json prints which migrations were applied", () =>
    withCommands(async (run) => {
      const { code, stdout } = await run("migrate", "--json");
      expect([code, JSON.parse(stdout)]).toEqual([0, { applied: [] }]);
    }));

  it("--json prints until when a state is expected", () =>
    withCommands(async (run) => {
      const { code, stdout } = await run("oauth", "state", "a-state-of-some-length", "--json");
      expect([code, JSON.parse(stdout)]).toEqual([0, { expires_at: expect.stringMatching(/^20\S+Z$/) }]);
    }));

  it("a command without a result leaves standard output empty, and prints the cause on standard error", () =>
    withCommands(async (run, receiver) => {
      await receiver.send(payment());
      const { code, stdout, stderr } = await run("replay", "no-such-event", "--json");
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("oncehook: no failure has the id no-such-event;");
    }));
});

it("a command exits 2 for a value that is not among an option's choices, without a request", () =>
  withCommands(async (run) => {
    const { code, stdout, stderr } = await run("failures", "--state", "done");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Allowed choices are accepted, waiting, exhausted");
  }));
