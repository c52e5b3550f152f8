import { describe, expect, it } from "vitest";
import { isRefused } from "../../../src/domain/index.ts";
import { createMask } from "../../../src/observability/index.ts";
import { createDiagnosis, type SignedRequest } from "../../../src/sources/index.ts";
import { openPreset, PRESET_NOW, PRESET_ORIGIN } from "../../support/preset.ts";
import { PRESET_SENDERS, type PresetSender } from "../../support/preset-senders.ts";

const mask = createMask({});
const DAY_MS = 86_400_000;

/** The callback without one of its headers, with it twice, empty, longer or as other text, and with other bodies. */
function* spoilt(request: SignedRequest): Generator<SignedRequest> {
  yield { ...request, headers: {} };
  for (const body of ["", "no JSON", "{}", '{"a":"b"}', "a=b", `${request.body} `])
    yield { ...request, body: Buffer.from(body) };
  for (const name of Object.keys(request.headers)) {
    const [value = ""] = request.headers[name] ?? [];
    const { [name]: _left, ...others } = request.headers;
    yield { ...request, headers: others };
    for (const values of [[value, value], [""], ["other"], [`${value}0`], [value.padEnd(5_000, "0")]])
      yield { ...request, headers: { ...others, [name]: values } };
  }
  yield* withoutFields(request);
}

function* withoutFields(request: SignedRequest): Generator<SignedRequest> {
  if (request.body[0] !== "{".charCodeAt(0)) return;
  const json = JSON.parse(request.body.toString()) as Record<string, unknown>;
  for (const key of Object.keys(json)) {
    for (const value of [undefined, 1, "", "other", {}])
      yield { ...request, body: Buffer.from(JSON.stringify({ ...json, [key]: value })) };
  }
}

/** What the log and the page say of refused callbacks of a platform. */
async function textsOf(sender: PresetSender): Promise<ReadonlySet<string>> {
  const definition = sender.source([sender.secrets[0] as string]);
  const diagnosed = createDiagnosis({
    name: "source",
    title: definition.facts.title,
    isOwn: false,
    otherSources: [],
    hmac: definition.hmac,
    secrets: () => definition.secrets,
    secretName: () => "SOURCE_SECRET",
    named: [],
    origin: () => PRESET_ORIGIN,
  });
  const right = await sender.callback(0);
  const cases = [...spoilt(right), await sender.callback(3)].map((request) => [request, PRESET_NOW] as const);
  const late = new Date(PRESET_NOW.getTime() + DAY_MS);
  const texts = new Set<string>();
  for (const [request, now] of [...cases, [right, late] as const]) {
    const refusal = await openPreset(definition, { now }).scheme.verify(request);
    if (!isRefused(refusal)) continue;
    const { message = "", remedy = "" } = diagnosed(refusal, request) ?? {};
    for (const text of [refusal.detail ?? "", message, remedy]) texts.add(text);
  }
  texts.delete("");
  return texts;
}

describe.each(PRESET_SENDERS)("the refusals of %s", (_name, sender) => {
  it("the mask of logs leaves every text of a refusal as it is", async () => {
    const texts = [...(await textsOf(sender))];
    expect(texts.map((text) => mask.text(text))).toEqual(texts);
    expect(texts.length).toBeGreaterThan(1);
  });
});
