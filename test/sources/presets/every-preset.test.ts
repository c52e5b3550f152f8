import { describe, expect, it } from "vitest";
import type { SignedRequest } from "../../../src/sources/index.ts";
import { openPreset, PRESET_NOW } from "../../support/preset.ts";
import { PRESET_SENDERS, type PresetSender } from "../../support/preset-senders.ts";

const DAY_MS = 86_400_000;
/**
 * Refused for their age although no page says that a retry is signed again. The platforms' own code refuses them:
 * @slack/bolt `receivers/verify-request.ts`, telnyx-node `src/lib/webhooks.ts`. A token of monday.com expires after five
 * minutes. GitLab signs as Standard Webhooks, whose timestamp is that of the attempt.
 */
const REFUSED_WHEN_OLD = new Set(["slack", "telnyx", "monday", "gitlab with a signing token"]);

const verified = async (sender: PresetSender, request: SignedRequest, places = [0], now = PRESET_NOW) => {
  const secrets = places.map((place) => sender.secrets[place] as string);
  return openPreset(sender.source(secrets), { now }).scheme.verify(request);
};

describe.each(PRESET_SENDERS)("the preset %s", (name, sender) => {
  it.each([0, 1, 2])("during a rotation the secret at place %i of three verifies", async (place) => {
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
    for (const end of ["\n", "\r\n"])
      expect(() => sender.source([`${sender.secrets[0]}${end}`])).toThrow(TypeError);
  });

  it("the bytes 0xff and 0xfe are told apart", async ({ skip }) => {
    const request = sender.bytes?.(0, Buffer.of(0xff));
    if (request === undefined) return skip("the platform signs no bytes of a body");
    expect(await verified(sender, request)).toHaveProperty("verified");
    expect(await verified(sender, { ...request, body: Buffer.of(0xfe) })).toMatchObject({ kind: "refused" });
  });

  it("a retry a day later is refused only where the platform signs it again", async () => {
    const isRefused = sender.source([sender.secrets[0] as string]).facts.renewsTimestamp === true;
    const result = await verified(
      sender,
      await sender.callback(0),
      [0],
      new Date(PRESET_NOW.getTime() + DAY_MS),
    );
    if (isRefused || REFUSED_WHEN_OLD.has(name)) expect(result).toMatchObject({ kind: "refused" });
    else expect(result).toHaveProperty("verified");
  });
});
