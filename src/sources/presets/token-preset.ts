import type { JsonObject, JsonValue } from "../../domain/index.ts";
import type { ContractData } from "../contract/event-contract.ts";
import type { OwnSample } from "../contract/sample-draft.ts";
import { createBodyTokenScheme } from "../schemes/body-token.ts";
import type { Scheme } from "../schemes/scheme.ts";
import { createBasicScheme, createTokenScheme } from "../schemes/token.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";
import { describe, type Preset } from "./describe.ts";
import { assertText } from "./own-source.ts";
import { defineSource, type PresetOptions, secretParts } from "./preset.ts";
import { assertKnown, assertOptionNames, SETTING_NAMES } from "./source-settings.ts";

/** What a preset is made of whose platform shows a fixed text and signs nothing: a reader of one callback can make others. */
interface UnsignedPreset {
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly contract: ContractData;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample;
}

/** How a platform shows that text. */
interface Credential<Options> {
  /** For `describe`, such as ``a fixed token in `X-Token` ``. */
  readonly shown: string;
  /** Such as `the header X-Token`. */
  readonly name: string;
  /** @throws TypeError for a text that cannot be sent */
  readonly scheme: (secrets: readonly string[], options: Options) => Scheme;
  /** The headers of a callback with this text; left out where it stands in the body. */
  readonly headers?: (secret: string, options: Options) => Record<string, string>;
}

function unsignedPreset<Options extends PresetOptions>(
  { preset, facts, contract, sample }: UnsignedPreset,
  { shown, name, scheme, headers }: Credential<Options>,
  own: readonly string[] = [],
): Preset<Options> {
  function create(options: Options): SourceDefinition {
    assertKnown(preset, options, ["secret", ...own, ...SETTING_NAMES]);
    const use = { settings: options, mismatch: "token_mismatch" } as const;
    const parts = secretParts(preset, options.secret, use, (secrets) => scheme(secrets, options));
    const [current] = parts.secrets;
    return defineSource({
      preset,
      facts,
      settings: options,
      ...parts,
      contract,
      sample,
      credential: name,
      ...(headers !== undefined && current !== undefined && { sign: () => headers(current, options) }),
    });
  }
  create.describe = describe({ preset, facts, signs: `nothing: ${shown}`, contract });
  return create;
}

/**
 * A platform that sends a text in a header, which holds nothing else: `Authorization` too has no `Bearer`, unless the
 * secret begins with it.
 * @returns a function of the secret and the source's settings @throws TypeError that names the option that is wrong
 */
export function tokenPreset({ header, ...data }: UnsignedPreset & { readonly header: string }) {
  return unsignedPreset<PresetOptions>(data, {
    shown: `a fixed token in \`${header}\``,
    name: `the header ${header}`,
    scheme: (tokens) => createTokenScheme({ tokens, header, prefix: "" }),
    headers: (token) => ({ [header]: token }),
  });
}

/** Options of a platform that authenticates as a user with a password, which is `secret`. */
export interface BasicOptions extends PresetOptions {
  /** The user's name, as you enter it at the platform. Default: `oncehook`. */
  readonly user?: string;
}

/** A platform that sends basic authentication (RFC 7617). @throws TypeError that names the option that is wrong */
export function basicPreset(data: UnsignedPreset): Preset<BasicOptions> {
  return unsignedPreset<BasicOptions>(
    data,
    {
      shown: "basic authentication",
      name: "the header Authorization",
      scheme(passwords, { user = "oncehook" }) {
        assertText(data.preset, "user", user, "oncehook");
        return createBasicScheme({ credentials: passwords.map((password) => ({ user, password })) });
      },
      headers(password, { user = "oncehook" }) {
        return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
      },
    },
    ["user"],
  );
}

export interface BodyTokenPreset extends UnsignedPreset {
  /** What the platform calls the text, such as `passcode`. */
  readonly name: string;
  /** The places of the text in the body, each of which must hold it; none where the platform sent none. */
  readonly read: (body: JsonObject) => readonly (JsonValue | undefined)[];
}

/** A platform that sends a text inside its JSON. @throws TypeError that names the option that is wrong */
export function bodyTokenPreset({ name, read, ...data }: BodyTokenPreset): Preset<PresetOptions> {
  return unsignedPreset<PresetOptions>(data, {
    shown: `the secret \`${name}\` in the body`,
    name: `\`${name}\` in its body`,
    scheme: (tokens) => createBodyTokenScheme({ tokens, read, name }),
  });
}

/** Options of a platform that sends a token or signs, as you have set it up there. */
export interface VerifyOptions extends PresetOptions {
  /** What the secret is. Prefer `signature` where the platform has it: a token says nothing of the body. */
  readonly verify?: "token" | "signature";
}

interface Ways {
  readonly preset: string;
  readonly token: Preset<PresetOptions>;
  readonly signature: Preset<PresetOptions>;
  readonly usual: NonNullable<VerifyOptions["verify"]>;
}

/** @throws TypeError that names the option that is wrong */
export function tokenOrSignaturePreset({ preset, token, signature, usual }: Ways): Preset<VerifyOptions> {
  const ways = { token, signature };
  function create(given: VerifyOptions): SourceDefinition {
    assertOptionNames(preset, given, { secret: true, verify: true });
    const { verify = usual, ...options } = given;
    if (Object.hasOwn(ways, verify)) return ways[verify](options);
    const got = JSON.stringify(verify);
    throw new TypeError(`${preset}: \`verify\`: got ${got}, expected "token" or "signature"`);
  }
  create.describe = () => {
    const other = ways[usual === "token" ? "signature" : "token"].describe();
    const description = ways[usual].describe();
    return { ...description, signs: `${description.signs}; or ${other.signs}` };
  };
  return create;
}
