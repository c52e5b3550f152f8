import { secretVariables } from "../config/index.ts";
import { PLATFORM } from "../domain/index.ts";

/** A callback as a test sends it again. */
export interface Fixture {
  readonly source: string;
  readonly type: string;
  readonly id: string;
  /** ISO 8601; the test's clock stands there, so that a signature with a time is not too old. */
  readonly receivedAt: string;
  /** How many values of the body are masked. */
  readonly masked: number;
  /** Whether the source is one of the variable `SOURCES`, and not of the configuration file. */
  readonly isOfEnvironment: boolean;
}

interface Paths {
  readonly body: string;
  /** Undefined where the project has no configuration file. */
  readonly config: string | undefined;
}

/** Every preset takes a secret of this form. */
export const TEST_SECRET = "c2VjcmV0".repeat(8);

/** The text of a test for `node --test` that sends the body twice, as its platform would. The same for the same event. */
export function fixtureTest(fixture: Fixture, paths: Paths): string {
  const { source, type, id, receivedAt, masked } = fixture;
  const values = masked === 1 ? "1 value is" : `${masked} values are`;
  // Without its value an event that was handled may be rejected.
  const remedy = `The body has "[masked]" there: if a handler's schema or code refuses it, write a valid value.`;
  const title = JSON.stringify(`${type} ${id} of ${source} is handled once`);
  return `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { startTestReceiver } from "oncehook/testing";

/** As it came at ${receivedAt}; ${values} masked.${masked > 0 ? ` ${remedy}` : ""} */
const raw = readFileSync(new URL(${JSON.stringify(paths.body)}, import.meta.url));

test(${title}, async () => {
${setUp(fixture, paths)}
  const callback = ${callbackText(fixture)};
  const first = await receiver.send(callback, { raw });
  assert.equal(first.status, 200, first.failure ?? JSON.stringify(first.body));
  await receiver.clock.advance(0); // runs an event that was only accepted
  assert.deepEqual((await receiver.failures()).map(({ error }) => error), []);
  const handled = await receiver.records();
  await receiver.send(callback, { raw });
  await receiver.clock.advance(0);
  assert.deepEqual(await receiver.records(), handled);
});
`;
}

function setUp({ source, receivedAt, isOfEnvironment }: Fixture, { config }: Paths): string {
  const lines: string[] = [];
  const [variable] = secretVariables(source);
  const secret = JSON.stringify(TEST_SECRET);
  const options = [`now: new Date(${JSON.stringify(receivedAt)})`];
  if (isOfEnvironment) options.push(`env: { SOURCES: ${JSON.stringify(source)}, ${variable}: ${secret} }`);
  else if (source !== PLATFORM) lines.push(`  process.env.${variable} ??= ${secret}; // the receiver's, and it signs`);
  if (config !== undefined) {
    lines.push(`  const { default: config } = await import(${JSON.stringify(config)});`);
    options.unshift("...config");
  }
  lines.push(`  await using receiver = await startTestReceiver({ ${options.join(", ")} });`);
  return lines.join("\n");
}

function callbackText({ source, type, id }: Fixture): string {
  const fields = source === PLATFORM ? { event_type: type, event_id: id } : { source, type, id };
  const pairs = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${pairs.join(", ")} }`;
}
