import { expect, it } from "vitest";
import { z } from "zod";
import { documentedTypes } from "../../src/doctor/documented-types.ts";
import { defineHandler } from "../../src/index.ts";
import { type SourceDefinition, signSample } from "../../src/sources/index.ts";
import { twilioEvents } from "../../src/sources/platforms/index.ts";
import { PRESET_NOW, PRESET_ORIGIN } from "../support/preset.ts";
import { PRESET_SENDERS } from "../support/preset-senders.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

/** Their callbacks need the platform's keys or a JWT: their tests sign them. */
const KEYS_ELSEWHERE = ["paypal", "plaid", "monday"];
/** With these the platform asks whether the address is ours. */
const QUESTIONS = ["intercom ping", "figma PING", "zoom endpoint.url_validation"];
const SENDERS = new Map(PRESET_SENDERS);
const lists = Object.entries(await documentedTypes()).filter(([preset]) => !KEYS_ELSEWHERE.includes(preset));
const sources = Object.fromEntries(
  lists.map(([preset]): [string, SourceDefinition] => {
    const { source, secrets } = SENDERS.get(preset) as NonNullable<ReturnType<typeof SENDERS.get>>;
    // Its sender signs another address.
    const isMapped = preset === "twilio-events";
    const mapped = { secret: secrets[0] as string, url: `${PRESET_ORIGIN}/api/source/callback` };
    return [preset, isMapped ? twilioEvents(mapped) : source(secrets.slice(0, 1))];
  }),
);

it("every documented type of every listed preset is delivered to the handler that names it", {
  tags: "full",
}, () => {
  const ran: string[] = [];
  const handlers = lists.flatMap(([source, { types }]) =>
    types
      .split(" ")
      .filter((type) => !QUESTIONS.includes(`${source} ${type}`))
      .map((type) =>
        defineHandler({
          source,
          type,
          data: z.object({}),
          handle: () => {
            ran.push(`${source} ${type}`);
            return {};
          },
        }),
      ),
  );
  return withReceiver(
    "sqlite",
    async (receiver) => {
      const refused: unknown[] = [];
      for (const { source, type } of handlers) {
        const status = await send(receiver, source, type);
        if (status > 299) refused.push([source, type, status]);
      }
      expect(refused).toEqual([]);
      expect(ran).toEqual(handlers.map(({ source, type }) => `${source} ${type}`));
    },
    { sources, handlers, clock: { now: () => PRESET_NOW } },
  );
});

async function send(receiver: TestReceiver, source: string, type: string): Promise<number> {
  const definition = sources[source] as SourceDefinition;
  const url = new URL(`${receiver.publicOrigin}/api/${source}/callback`);
  if (definition.sign === undefined && definition.signBody === undefined) return sendByPair(source, type, url);
  const { headers, body } = signSample(definition, {
    source,
    type,
    now: PRESET_NOW,
    url,
    origin: url.origin,
  });
  return (await fetch(url, { method: "POST", headers, body })).status;
}

/** With the private key of the test, or with the passcode that Figma puts into the body. */
async function sendByPair(source: string, type: string, url: URL): Promise<number> {
  const { bytes, secrets } = SENDERS.get(source) as NonNullable<ReturnType<typeof SENDERS.get>>;
  const sample = (sources[source] as SourceDefinition).sample({
    type,
    newId: `evt_${type}`,
    now: PRESET_NOW,
  });
  if (typeof bytes === "string") {
    const body = { ...JSON.parse(Buffer.from(sample.body).toString()), passcode: secrets[0] };
    return (await fetch(url, { method: "POST", body: JSON.stringify(body) })).status;
  }
  const request = await bytes(0, sample.body);
  const { search } = new URL(request.target, url);
  const signed = Object.entries(request.headers).map(([name, values]) => [name, String(values?.[0])]);
  const headers = { ...sample.headers, ...Object.fromEntries(signed) };
  return (await fetch(url.href + search, { method: "POST", headers, body: sample.body })).status;
}
