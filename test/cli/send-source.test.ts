import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { stripe } from "../../src/sources/platforms/index.ts";
import { runCommandLine } from "../support/command.ts";
import { withFolder } from "../support/folder.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const ENV = {
  SOURCES: "stripe,twilio-events",
  STRIPE_SECRET: "whsec_of-the-tests",
  TWILIO_EVENTS_SECRET: "of-the-tests",
};

function withSend(
  use: (send: (...args: string[]) => ReturnType<typeof runCommandLine>, receiver: TestReceiver) => Promise<void>,
) {
  return withReceiver(
    "sqlite",
    (receiver) => {
      const env = { ...CHILD_ENVIRONMENT, ...ENV, CALLBACK_BASE_URL: receiver.publicOrigin };
      return use((...args) => runCommandLine(["send", ...args], env), receiver);
    },
    { sources: { stripe: stripe({ secret: ENV.STRIPE_SECRET }) } },
  );
}

it("send --source signs a sample as the source's platform does, and prints body and answer", () =>
  withSend(async (send, receiver) => {
    const { code, stdout, stderr } = await send("--source", "stripe", "invoice.paid", "--id", "evt_1");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`POST ${receiver.publicOrigin}/api/stripe/callback\n{"id":"evt_1","object":"event"`);
    expect(stdout).toContain("200\n");
    const again = await send("--source", "stripe", "invoice.paid", "--id", "evt_1");
    expect(again.stdout).toContain("already_processed");
  }));

const PARCELS = `
import { defineConfig, defineHandler } from "${pathToFileURL(resolve("src/index.ts"))}";
import { z } from "${import.meta.resolve("zod")}";
const data = z.object({ parcel: z.string(), weight: z.number() });
export default defineConfig({ handlers: [defineHandler({ type: "parcel_shipped", data, handle: () => ({}) })] });
`;

it("send of a type of the built-in protocol makes the data from the schema of the project's handler", () =>
  withFolder(async (folder) => {
    const file = join(folder, "oncehook.config.ts");
    writeFileSync(file, PARCELS);
    const { default: config } = await import(pathToFileURL(file).href);
    await withReceiver(
      "sqlite",
      async (receiver) => {
        const env = { ...CHILD_ENVIRONMENT, CALLBACK_BASE_URL: receiver.publicOrigin };
        const sent = await runCommandLine(["send", "--source", "platform", "parcel_shipped"], env, folder);
        expect([sent.code, sent.stderr, sent.stdout]).toEqual([0, "", expect.stringContaining("\n200\n")]);
        const { items } = (await receiver.admin("/api/v1/sources")).body as { items: object[] };
        expect(items).toMatchObject([{ source: "platform", sample_type: "parcel_shipped" }]);
      },
      { ...config, env: { HANDLERS: "none" } },
    );
  }));

it("send without --source names the source that was forgotten", () =>
  withSend(async (send) => {
    const { code, stderr } = await send("invoice.paid");
    expect([code, stderr]).toEqual([2, expect.stringContaining("for the source stripe, add --source stripe")]);
  }));

it.each([
  ["invoice.paid", "for the source stripe, add --source stripe"],
  ["invoice.payed", "did you mean invoice.paid of the source stripe? Add --source stripe"],
  ["orders/create", "for the source shopify, add --source shopify"],
  ["parcel.lost", "for a source, add --source with its name: shopify, github, stripe"],
])("send %s without --source names the source that knows the type or a similar one, else all", (type, said) => {
  const secrets = {
    SHOPIFY_SECRET: "of-the-tests",
    GITHUB_SECRET: "of-the-tests",
    STRIPE_SECRET: "whsec_of",
  };
  const env = { ...CHILD_ENVIRONMENT, ...secrets, SOURCES: "shopify,github,stripe" };
  return runCommandLine(["send", type], env).then(({ code, stderr }) =>
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]),
  );
});

it("send --source of a type that the platform does not document sends it, and says which was meant", () =>
  withSend(async (send) => {
    const { code, stderr } = await send("--source", "stripe", "invoice.payed");
    expect([code, stderr]).toEqual([
      0,
      "oncehook: source stripe: the type invoice.payed is not among the types of Stripe that Oncehook knows; did you mean invoice.paid?\n",
    ]);
  }));

it("send --url with an origin posts to the path of the source", () =>
  withSend(async (send, { publicOrigin }) => {
    const ofSource = await send("--source", "stripe", "invoice.paid", "--url", `${publicOrigin}/`);
    expect(ofSource.stdout).toContain(`POST ${publicOrigin}/api/stripe/callback\n`);
    const ofPlatform = await send("webhook_message", "--url", publicOrigin);
    expect([ofPlatform.code, ofPlatform.stdout]).toEqual([
      0,
      expect.stringContaining(`POST ${publicOrigin}/api/platform/callback\n`),
    ]);
  }));

it("send --source takes data from a file, and prints the event with --json", () =>
  withSend((send) =>
    withFolder(async (folder) => {
      const file = join(folder, "invoice.json");
      writeFileSync(file, JSON.stringify({ id: "evt_of_the_file", data: { object: { id: "in_9" } } }));
      const args = ["--source", "stripe", "invoice.paid", "--data", file, "--timestamp", "1750000000", "--json"];
      const { stdout } = await send(...args);
      expect(JSON.parse(stdout)).toMatchObject({
        status: 200,
        event: {
          event_id: "evt_of_the_file",
          timestamp: 1_750_000_000,
          data: { data: { object: { id: "in_9" } } },
        },
      });
    }),
  ));

it.each([
  [
    ["--source", "twilio-events", "delivered"],
    "twilio-events: no callback of Twilio Event Streams can be signed here; have it send a test",
    1,
  ],
  [["--source", "strip", "invoice.paid"], "no source here; there are stripe, twilio-events", 2],
  [["--source", "stripe", "invoice.paid", "--data", "[]"], "expected a JSON object, or a file with one", 2],
])("send %j is refused with a reason", (args, reason, expected) =>
  withSend(async (send) => {
    const { code, stderr } = await send(...args);
    expect(stderr).toContain(reason);
    expect(code).toBe(expected);
  }),
);
