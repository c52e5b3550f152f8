import { createHmac, randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Receiver } from "../src/embed/index.ts";
import { dropbox, stripe, trello, twilio } from "../src/sources/platforms/index.ts";
import type { LogLine } from "../src/testing/captured-log.ts";
import { paid, type SignedCallback, STRIPE_SECRET, stripeCallback, VARIABLES } from "../test/support/application.ts";
import type { Target } from "../test/support/databases.ts";
import { countOf } from "../test/support/effects.ts";
import { openConnection } from "./raw-client.ts";

/** An application that listens, with a receiver in it. */
export interface Served {
  readonly origin: string;
  close(): Promise<unknown>;
}

/** A scenario that has no meaning for a platform. */
export interface Exception {
  /** Its title. */
  readonly scenario: RegExp;
  readonly because: string;
}

/** Where an application runs, as far as the scenarios ask. */
export interface Platform {
  readonly name: string;
  /** The path under which the application mounts the receiver. */
  readonly mount?: string;
  /** Left out: `https://app.example` with the path of the mount. */
  readonly baseUrl?: string;
  readonly exceptions?: readonly Exception[];
  /** The application's route takes every address of the receiver's form, and the receiver answers unknown ones. */
  readonly takesUnknownSources?: true;
}

/** A framework with a receiver mounted in it, as its page of the docs shows it. */
export interface Framework extends Platform {
  /** The application echoes JSON at `POST /orders`, and answers unknown addresses with 404 in its own way. */
  serve(receiver: Receiver): Promise<Served>;
  /** The same with a parser of the framework before the receiver. */
  readonly behindParser?: {
    serve(receiver: Receiver): Promise<Served>;
    /** The line of the log names the parser and the line to change. */
    readonly message: RegExp;
  };
}

/** What a scenario sees. */
export interface Scene {
  readonly receiver: Pick<Receiver, "work"> & { flush(): Promise<unknown> };
  readonly origin: string;
  readonly platform: Platform;
  /** What the receiver has logged so far. */
  readonly lines: readonly LogLine[];
  readonly target: Target;
  /** Events whose handler fails. */
  readonly failing: { add(id: string): void; delete(id: string): void };
}

export interface Scenario {
  readonly title: string;
  run(scene: Scene): Promise<void>;
}

const APP_ORIGIN = "https://app.example";
export const MAX_BODY_BYTES = 262_144;
export const SECRETS = {
  billing: STRIPE_SECRET,
  calls: "twilio-token-of-an-account-0123456789",
  files: "dropbox-secret-of-an-application-01",
  boards: "0f".repeat(32),
};
/** The longest part of a test that waits for a body. */
const REQUEST_TIMEOUT_MS = 3_000;

/** The receiver of all scenarios. */
export function scenarioConfig(failing: ReadonlySet<string>) {
  const handler = paid((id) => {
    if (failing.has(id)) throw new Error("the handler fails");
  });
  return {
    handlers: [handler],
    sources: {
      billing: stripe({ secret: SECRETS.billing, retry: { for: "1h", first: "1s" } }),
      calls: twilio({ secret: SECRETS.calls }),
      files: dropbox({ secret: SECRETS.files }),
      boards: trello({ secret: SECRETS.boards }),
    },
  };
}

export function scenarioOptions({ mount = "", baseUrl = APP_ORIGIN + mount }: Pick<Platform, "mount" | "baseUrl">) {
  const limits = { MAX_BODY_BYTES: String(MAX_BODY_BYTES), REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) };
  return {
    baseUrl,
    background: "none",
    variables: { ...VARIABLES, ...limits, HANDLER_TIMEOUT_MS: "2000" },
  } as const;
}

const pathOf = ({ platform: { mount = "" } }: Scene, source = "billing") => `${mount}/api/${source}/callback`;

function post(scene: Scene, { body, headers }: Pick<SignedCallback, "body" | "headers">): Promise<Response> {
  return fetch(scene.origin + pathOf(scene), { method: "POST", body, headers });
}

async function expectJson(response: Response, status: number, body: object): Promise<void> {
  expect([response.status, await response.json()]).toEqual([status, body]);
}

async function deliver(scene: Scene, callback: SignedCallback, status: string): Promise<void> {
  const response = await post(scene, callback);
  expect([response.status, await response.json()]).toMatchObject([200, { status }]);
}

/** Sends a form that Twilio signed with an address that has this query. */
async function expectSignedForm(scene: Scene, query: string): Promise<void> {
  const target = `${pathOf(scene, "calls")}?${query}`;
  const fields = { CallSid: `CA${randomUUID()}`, CallStatus: "ringing", From: "+15005550006" };
  const row = Object.entries(fields).flat().join("");
  const signature = createHmac("sha1", SECRETS.calls)
    .update(APP_ORIGIN + target + row)
    .digest("base64");
  const body = new URLSearchParams(fields).toString();
  // fetch would write the quotes of the query in another way.
  const connection = await openConnection(scene.origin);
  const lines = [
    `POST ${target} HTTP/1.1`,
    "Host: app.example",
    `X-Twilio-Signature: ${signature}`,
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${body.length}`,
  ];
  connection.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  expect(await connection.response()).toMatch(/^HTTP\/1\.1 200 [\s\S]*<Response\/>/);
  connection.close();
}

/** Bytes of a request to Stripe's address over a connection that a test reads and writes itself. */
const head = (scene: Scene, ...fields: string[]) =>
  [`POST ${pathOf(scene)} HTTP/1.1`, "Host: app.example", "Content-Type: application/json", ...fields, "", ""].join(
    "\r\n",
  );

export const SCENARIOS: readonly Scenario[] = [
  {
    title: "a signed callback is handled, and its duplicate is not handled again",
    async run(scene) {
      const callback = stripeCallback();
      await deliver(scene, callback, "success");
      await deliver(scene, callback, "already_processed");
    },
  },
  {
    title: "64 deliveries of an event at once are handled once",
    async run(scene) {
      const callback = stripeCallback();
      const responses = await Promise.all(Array.from({ length: 64 }, () => post(scene, callback)));
      const bodies = (await Promise.all(responses.map((one) => one.json()))) as { status: string }[];
      const count = (kind: string) => bodies.filter(({ status }) => status === kind).length;
      expect([count("success"), count("already_processed")]).toEqual([1, 63]);
    },
  },
  {
    title: "a forged signature returns 401",
    async run(scene) {
      const forged = stripeCallback("evt_forged", "whsec_of_another_account");
      await expectJson(await post(scene, forged), 401, { error: "invalid signature" });
    },
  },
  {
    title: "two signature headers return 401",
    async run(scene) {
      const { body, headers } = stripeCallback();
      const signature = `Stripe-Signature: ${headers["stripe-signature"]}`;
      const connection = await openConnection(scene.origin);
      connection.write(head(scene, signature, signature, `Content-Length: ${body.length}`) + body);
      expect(await connection.response()).toMatch(/^HTTP\/1\.1 401 [\s\S]*"error":/);
      connection.close();
    },
  },
  {
    title: "a handler that fails returns 500, work() runs it again, and its redelivery is a duplicate",
    async run(scene) {
      const callback = stripeCallback();
      scene.failing.add(callback.id);
      expect((await post(scene, callback)).status).toBe(500);
      scene.failing.delete(callback.id);
      await expect
        .poll(async () => (await scene.receiver.work({ budgetMs: 5_000 })).ran, { timeout: 10_000 })
        .toBeGreaterThan(0);
      await deliver(scene, callback, "already_processed");
    },
  },
  {
    title: "a handshake by GET returns its challenge",
    async run(scene) {
      const response = await fetch(`${scene.origin}${pathOf(scene, "files")}?challenge=abc-123`);
      expect([response.status, await response.text()]).toEqual([200, "abc-123"]);
    },
  },
  {
    title: "a handshake by HEAD returns 200 without a body",
    async run(scene) {
      const response = await fetch(scene.origin + pathOf(scene, "boards"), { method: "HEAD" });
      expect([response.status, await response.text()]).toEqual([200, ""]);
    },
  },
  {
    title: "a form that is signed with its address, as Twilio does, is handled",
    run: (scene) => expectSignedForm(scene, "q=b&x=%27c%27"),
  },
  {
    title: "a form is handled whose signed address has quotes, which a URL spells otherwise",
    run: (scene) => expectSignedForm(scene, "q=%27b%27&x='c'"),
  },
  {
    title: "a body over the limit that is announced returns 413 before it is sent",
    async run(scene) {
      const connection = await openConnection(scene.origin);
      connection.write(head(scene, `Content-Length: ${10 * MAX_BODY_BYTES}`));
      expect(await connection.response()).toMatch(/^HTTP\/1\.1 413 /);
      connection.close();
    },
  },
  {
    title: "a body that passes the limit unannounced returns 413 after at most 1.1 times the limit",
    async run(scene) {
      const connection = await openConnection(scene.origin);
      connection.write(head(scene, "Transfer-Encoding: chunked"));
      const bytes = Math.floor(MAX_BODY_BYTES * 1.1);
      // It does not end: nothing but the limit can be the reason.
      connection.write(`${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`);
      expect(await connection.response()).toMatch(/^HTTP\/1\.1 413 /);
      connection.close();
    },
  },
  {
    title: "a body that does not end returns 408 in time",
    async run(scene) {
      const connection = await openConnection(scene.origin);
      const start = performance.now();
      connection.write(head(scene, "Transfer-Encoding: chunked"));
      connection.write("1\r\n{\r\n");
      expect(await connection.response()).toMatch(/^HTTP\/1\.1 408 /);
      expect(performance.now() - start).toBeLessThan(3 * REQUEST_TIMEOUT_MS);
      connection.close();
    },
  },
  {
    title: "other addresses are the application's, and nothing of them is counted",
    async run(scene) {
      const count = async () => {
        await scene.receiver.flush();
        return countOf(scene.target, "oncehook_callbacks");
      };
      await deliver(scene, stripeCallback(), "success");
      const before = await count();
      const order = { id: 7, tags: ["a"] };
      const init = { method: "POST", body: JSON.stringify(order), headers: { "content-type": "application/json" } };
      await expectJson(await fetch(`${scene.origin}/orders`, init), 200, order);
      const unknown = await fetch(scene.origin + pathOf(scene, "unknown"), init);
      const isReceivers = (await unknown.text()) === '{"error":"not found"}';
      expect([unknown.status, isReceivers]).toEqual([404, scene.platform.takesUnknownSources ?? false]);
      expect(await count()).toBe(before);
    },
  },
];

/** The receiver behind a parser: its bytes are gone, and the platform has to send the callback again. */
export async function expectConsumed(
  scene: Scene,
  message: RegExp,
  fields: Record<string, string> = {},
): Promise<void> {
  const { body, headers } = stripeCallback();
  await expectJson(await post(scene, { body, headers: { ...headers, ...fields } }), 500, { error: "internal error" });
  const errors = () => scene.lines.filter(({ level }) => level === "error").map(({ msg }) => msg);
  // Those of another process take a moment.
  await expect.poll(errors).toContainEqual(expect.stringMatching(message));
}
