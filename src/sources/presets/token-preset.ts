import type { JsonObject, JsonValue } from "../../domain/index.ts";
import { naming } from "../option-error.ts";
import { createBodyTokenScheme } from "../schemes/body-token.ts";
import { createBasicScheme, createTokenScheme } from "../schemes/token.ts";
import type { SourceDefinition } from "../source-definition.ts";
import { type HmacPreset, hmacPreset } from "./hmac-preset.ts";
import { assertKnown, assertOneOf, assertText } from "./options.ts";
import type { OwnContract } from "./own-source.ts";
import type { Platform, Preset } from "./preset.ts";
import { type SecretPreset, secretPreset } from "./secret-preset.ts";
import type { PresetOptions } from "./secrets.ts";
import { SETTING_NAMES } from "./source-settings.ts";

/** How a platform shows a fixed text. */
interface Credential<Options> extends Pick<SecretPreset<Options>, "scheme" | "sign" | "options" | "credential"> {
  /** For `describe`, such as ``a fixed token in `X-Token` ``. */
  readonly shown: string;
}

/** A preset whose platform shows a fixed text and signs nothing: a reader of one callback can make others. */
function unsignedPreset<Options extends PresetOptions>(
  preset: string,
  data: Platform,
  { shown, ...credential }: Credential<Options>,
): Preset<Options> {
  const signs = `nothing: ${shown}`;
  return secretPreset<Options>(preset, { ...data, ...credential, signs, mismatch: "token_mismatch" });
}

/**
 * A platform that sends a text in a header, which holds nothing else: `Authorization` too has no `Bearer`, unless the
 * secret begins with it.
 * @returns a function of the secret and the source's settings @throws OptionError that names the option that is wrong
 */
export function tokenPreset(preset: string, { header, ...data }: Platform & { readonly header: string }) {
  return unsignedPreset<PresetOptions>(preset, data, {
    shown: `a fixed token in \`${header}\``,
    credential: { headers: [header] },
    scheme: (tokens) => createTokenScheme({ tokens, header, prefix: "" }),
    sign: ({ secret }) => ({ [header]: secret }),
  });
}

/** Options of a platform that authenticates as a user with a password, which is `secret`. */
export interface BasicOptions extends PresetOptions {
  /** The user's name, as you enter it at the platform. Default: `oncehook`. */
  readonly user?: string;
}

/** A platform that sends basic authentication (RFC 7617). @throws OptionError that names the option that is wrong */
export function basicPreset(preset: string, data: Platform): Preset<BasicOptions> {
  return unsignedPreset<BasicOptions>(preset, data, {
    shown: "basic authentication",
    credential: { headers: ["Authorization"] },
    options: { user: "optional" },
    scheme(passwords, _environment, { user = "oncehook" }) {
      assertText("user", user, "oncehook");
      return createBasicScheme(passwords.map((password) => ({ user, password })));
    },
    sign({ secret: password }, { user = "oncehook" }) {
      return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
    },
  });
}

interface BodyTokenPreset extends Platform {
  /** The platform's name of the text, such as `passcode`. */
  readonly name: string;
  /** The places of the text in the body, each of which must hold it; none where the platform sent none. */
  readonly read: (body: JsonObject) => readonly (JsonValue | undefined)[];
}

/** A platform that sends a text inside its JSON. @throws OptionError that names the option that is wrong */
export function bodyTokenPreset(preset: string, { name, read, ...data }: BodyTokenPreset): Preset<PresetOptions> {
  return unsignedPreset<PresetOptions>(preset, data, {
    shown: `the secret \`${name}\` in the body`,
    credential: { fields: [name] },
    scheme: (tokens) => createBodyTokenScheme({ tokens, read, name }),
  });
}

/** Options of a platform that sends a token or signs, as you have set it up there. */
export interface VerifyOptions extends PresetOptions {
  /** The kind of the secret. Prefer `signature` where the platform has it: a token says nothing of the body. */
  readonly verify?: "token" | "signature";
}

interface Ways extends HmacPreset<PresetOptions> {
  readonly usual: NonNullable<VerifyOptions["verify"]>;
  /** The members that differ where it sends a token. */
  readonly token: Partial<Pick<OwnContract, "id" | "isIdSigned">> & { readonly header: string };
}

/** @throws OptionError that names the option that is wrong */
export function tokenOrSignaturePreset(preset: string, { usual, token, ...data }: Ways): Preset<VerifyOptions> {
  const ways = { token: tokenPreset(preset, { ...data, ...token }), signature: hmacPreset(preset, data) };
  const optionNeeds = { secret: "required", verify: "optional" } as const;
  const create = (all: VerifyOptions): SourceDefinition =>
    naming({ preset }, () => {
      assertKnown(all, [...Object.keys(optionNeeds), ...SETTING_NAMES]);
      const { verify = usual, ...options } = all;
      assertOneOf("verify", verify, Object.keys(ways));
      return ways[verify](options);
    });
  function describe() {
    const other = ways[usual === "token" ? "signature" : "token"].describe();
    const description = ways[usual].describe();
    return { ...description, options: optionNeeds, signs: [description.signs, other.signs].flat() };
  }
  return Object.assign(create, { describe });
}
