import { describe, expect, it } from "vitest";
import type { SignedRequest } from "../../../src/sources/index.ts";
import { openPreset, PRESET_NOW } from "../../support/preset.ts";
import { PRESET_SENDERS, type PresetSender } from "../../support/preset-senders.ts";

const DAY_MS = 86_400_000;
/** Why a callback is refused for its age although no page says that a retry is signed again. */
const REFUSED_WHEN_OLD: Readonly<Record<string, string>> = {
  cloudinary: "cloudinary `lib/utils/index.js` refuses what is older than two hours",
  "gitlab with a signing token": "Standard Webhooks: the timestamp is that of the attempt",
  monday: "its token expires after five minutes",
  retell: "retell-sdk `src/lib/webhook_auth.ts` refuses what is five minutes off",
  slack: "@slack/bolt `receivers/verify-request.ts` refuses what is older than five minutes",
  telnyx: "telnyx-node `src/lib/webhooks.ts` refuses what is five minutes off",
};
/** Why a callback is taken a day later although its platform signs a retry again. */
const TAKEN_WHEN_OLD: Readonly<Record<string, string>> = {
  antom: "no page documents how old a notification may be",
  front: "no page documents how old a callback may be",
  recharge: "Recharge asks to refuse what is 48 hours off",
};

const verified = async (sender: PresetSender, request: SignedRequest, places = [0], now = PRESET_NOW) => {
  const secrets = places.map((place) => sender.secrets[place] as string);
  return openPreset(sender.source(secrets), { now }).scheme.verify(request);
};

it("each name in the table of presets that are refused for their age is a preset", () => {
  const names = PRESET_SENDERS.map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys({ ...REFUSED_WHEN_OLD, ...TAKEN_WHEN_OLD })));
});

describe.each(PRESET_SENDERS)("the preset %s", (name, sender) => {
  it.each([0, 1, 2])("the secret at place %i of three verifies during a rotation", async (place) => {
    expect(await verified(sender, await sender.callback(place), [0, 1, 2])).toMatchObject({
      verified: [{ index: place }],
    });
  });

  it("a callback that is signed with none of the secrets is refused", async () => {
    expect(await verified(sender, await sender.callback(3), [0, 1, 2])).toMatchObject({ kind: "refused" });
  });

  it("an empty secret is refused at the start, also beside a right one", () => {
    for (const empty of ["", "\n"]) {
      expect(() => sender.source([empty])).toThrow(TypeError);
      expect(() => sender.source([sender.secrets[0] as string, empty])).toThrow(TypeError);
    }
  });

  it.runIf(sender.isText !== false)("a secret that ends in a newline is refused at the start", () => {
    for (const end of ["\n", "\r\n"]) expect(() => sender.source([`${sender.secrets[0]}${end}`])).toThrow(TypeError);
  });

  it("a signature over the byte 0xff does not fit 0xfe", async ({ skip }) => {
    const { bytes } = sender;
    if (typeof bytes === "string") return skip(bytes);
    const request = await bytes(0, Buffer.of(0xff));
    expect(await verified(sender, request)).toHaveProperty("verified");
    expect(await verified(sender, { ...request, body: Buffer.of(0xfe) })).toMatchObject({ kind: "refused" });
  });

  it("a retry a day later is refused only where the platform signs it again", async () => {
    const { facts } = sender.source([sender.secrets[0] as string]);
    const isRenewed = facts.renewsTimestamp === true && TAKEN_WHEN_OLD[name] === undefined;
    const reason = REFUSED_WHEN_OLD[name];
    const result = await verified(sender, await sender.callback(0), [0], new Date(PRESET_NOW.getTime() + DAY_MS));
    if (isRenewed || reason !== undefined) expect(result, reason).toMatchObject({ kind: "refused" });
    else expect(result).toHaveProperty("verified");
  });
});
