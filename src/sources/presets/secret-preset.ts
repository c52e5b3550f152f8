import { randomBytes } from "node:crypto";
import { isRefused, type JsonObject } from "../../domain/index.ts";
import { parseObject } from "../formats/parse-body.ts";
import type { CredentialPlaces, Scheme } from "../schemes/scheme.ts";
import type { HmacRequest } from "../schemes/sign-hmac.ts";
import type { SecretMismatch } from "../schemes/tenant-scheme.ts";
import type { SourceDefinition, SourceEnvironment } from "../source-definition.ts";
import { type OwnOptions, type Platform, type Preset, type PresetData, presetOf } from "./preset.ts";
import { type PresetOptions, secretParts } from "./secrets.ts";

/** A preset whose scheme follows from its secrets in code. */
export interface SecretPreset<Options> extends Platform, Pick<PresetData, "signs"> {
  readonly credential: CredentialPlaces;
  /** How the scheme refuses what none of the secrets has made. Default: `signature_mismatch`. */
  readonly mismatch?: SecretMismatch;
  /** Whether the signature covers the path. Default: false. */
  readonly signsPath?: boolean;
  /** Whether it covers the whole registered address. Default: false. */
  readonly signsAddress?: boolean;
  readonly options?: OwnOptions<Options, "secret">;
  /** @throws OptionError for a secret or an option that cannot be used */
  readonly scheme: (secrets: readonly string[], environment: SourceEnvironment, options: Options) => Scheme;
  /** The headers with which the platform would sign a request. */
  readonly sign?: (request: HmacRequest & { secret: string }, options: Options) => Record<string, string>;
  /** The body with its signature, where a platform signs inside it. @throws TypeError for what it cannot send */
  readonly signBody?: (body: JsonObject, secret: string, now: Date) => JsonObject;
}

/** @returns a function of the secret and the source's settings @throws OptionError that names the option that is wrong */
export function secretPreset<Options extends PresetOptions = PresetOptions>(
  preset: string,
  data: SecretPreset<Options>,
): Preset<Options> {
  const { credential, mismatch, signsPath, signsAddress } = data;
  return presetOf<Options>(preset, {
    ...data,
    options: { secret: "required", ...data.options },
    make(options) {
      const use = { settings: options, mismatch, signsPath };
      const parts = secretParts(options.secret, use, (secrets, environment) =>
        data.scheme(secrets, environment, options),
      );
      const [current] = parts.secrets;
      return { ...parts, credential, signsAddress, ...(current !== undefined && signing(data, current, options)) };
    },
  });
}

/** How samples are signed; a platform signs in headers or inside the body. */
function signing<Options>(
  { sign, signBody }: SecretPreset<Options>,
  secret: string,
  options: Options,
): Pick<SourceDefinition, "sign" | "signBody"> {
  if (sign !== undefined) return { sign: (request) => sign({ ...request, secret }, options) };
  if (signBody === undefined) return {};
  return {
    signBody(body, now, isWrong) {
      const parsed = parseObject(body);
      if (isRefused(parsed)) return body;
      // In hex, so that it can be the key of every platform.
      const key = isWrong ? randomBytes(32).toString("hex") : secret;
      return Buffer.from(JSON.stringify(signBody(parsed.object, key, now)));
    },
  };
}
