import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type AuthMethod, type Config, ConfigError, type JwtConfig } from "../config/index.ts";
import { BUILT_IN_PROTOCOL, type Clock, callOnce, endpointPaths, errorReason } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { createPlatform, type Platform, sandboxSettings } from "../oauth/index.ts";
import {
  allOf,
  anyOf,
  createHmacScheme,
  createJwtScheme,
  createTokenScheme,
  fixedKeys,
  type JwtAlgorithm,
  type JwtKeys,
  jwksKeys,
  missingCredential,
  pemKeys,
  platformHmac,
  type Scheme,
  secretKeys,
} from "../sources/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";

export function configuredAuthorizationServer(
  { oauth, environment }: Config,
  adminOrigin: () => string,
): () => Platform {
  return callOnce(() => createPlatform(oauth ?? sandboxSettings(adminOrigin()), environment === "production"));
}

/** The event of OAuth redirects, which are of version v1 (SPEC 6). */
export const SIGNED_IN = "user_authorized";

/** Whether a handler receives what redirects bring, where no registry was made. */
export function handlesSignIns({ builtInHandlers }: Config, handlers: readonly Handler[]): boolean {
  return (
    builtInHandlers.includes(SIGNED_IN) ||
    handlers.some(({ type, versions }) => type === SIGNED_IN && versions.includes("v1"))
  );
}

/** A remedy for redirects without a handler, for an operator and for a browser that would start a flow. */
export function unhandledSignIn(isHandled: boolean): string | undefined {
  if (isHandled) return undefined;
  return (
    "no handler receives user_authorized, so no OAuth flow starts here: add the built-in one with HANDLERS=user_authorized, " +
    "or a handler of your own"
  );
}

/**
 * The scheme of the built-in protocol, as `AUTH_METHOD` combines it.
 * @throws ConfigError when the file with its public keys cannot be used
 */
export async function createPlatformScheme({ authentication, servesPlatform }: Config, clock: Clock): Promise<Scheme> {
  if (!servesPlatform) return NO_PLATFORM;
  const { methods, signing, token, jwt } = authentication;
  const keys = jwt === null ? undefined : await keysOf(jwt);
  const scheme = (method: AuthMethod): Scheme => {
    if (method === "hmac")
      return createHmacScheme(platformHmac(signing.toleranceSeconds), { secrets: signing.secrets, clock });
    if (method === "token") return createTokenScheme(token);
    if (jwt === null || keys === undefined) throw new TypeError("the configuration lets no jwt pass without its keys");
    return createJwtScheme({ ...jwt, keys, clock });
  };
  return anyOf(methods.map((all) => allOf(all.map(scheme))));
}

/** Redirects are asked whether they are signed, whatever the sources: without a secret none is. */
const NO_PLATFORM: Scheme = {
  challenge: 'Signature realm="callbacks"',
  verify: () => missingCredential("signature_missing"),
};

/** For the log of the start and for `doctor`. */
export const WITHOUT_PLATFORM = `SIGNING_SECRET is not set: ${BUILT_IN_PROTOCOL} is off, and its addresses return 404`;

async function keysOf({ keys, algorithm }: JwtConfig): Promise<JwtKeys> {
  if (keys.from === "secrets") return secretKeys(keys.secrets);
  if (keys.from === "jwks") return jwksKeys(keys.url);
  return fixedKeys(await pemKeysOf(keys.file, algorithm));
}

export async function pemKeysOf(file: string, algorithm: JwtAlgorithm): Promise<KeyObject[]> {
  try {
    return pemKeys(await readFile(file, "utf8"), algorithm, `JWT_ALGORITHM=${algorithm}`);
  } catch (cause) {
    const got = `got ${JSON.stringify(file)}, which cannot be used: ${errorReason(cause)}`;
    throw new ConfigError([`JWT_PUBLIC_KEY_FILE: ${got}`]);
  }
}

/** A warning if a method of AUTH_METHOD does not authenticate the body: a captured credential can then carry any body. */
export function unsignedBodyWarning({ authentication }: Config): string | undefined {
  const { methods, jwt } = authentication;
  const covered = (all: readonly AuthMethod[]) =>
    all.includes("hmac") || (all.includes("jwt") && jwt?.bodyClaim !== null);
  const open = methods.find((all) => !covered(all));
  if (open === undefined) return undefined;
  return (
    `AUTH_METHOD: ${open.join("+")} says who sends a callback, and nothing of its body; ` +
    "where the platform can, add hmac (AUTH_METHOD=hmac+…) or set JWT_BODY_CLAIM"
  );
}

export function describeMethods({ authentication }: Config): string {
  return authentication.methods.map((all) => all.join(" and ")).join(", or by ");
}

export type RegisteredAddress = ReturnType<typeof registeredAddresses>[number];

/** The addresses of callbacks, exactly as the platform registers them (SPEC 1.2). */
export function registeredAddresses(config: Config, baseUrl = config.baseUrl) {
  const { servesPlatform } = config;
  const { callbacks } = endpointPaths("", config.redirect.scopePath, { servesPlatform });
  return callbacks.map(({ path, version }) => ({ url: `${baseUrl}${path}`, version }));
}

/** The addresses of a source beside the built-in protocol; register the first. @param baseUrl with the base path */
export function addressesOf(
  { name, definition }: ConfiguredSource,
  { redirect }: Pick<Config, "redirect">,
  baseUrl: string,
): RegisteredAddress[] {
  const { path, url } = definition.settings;
  if (url !== undefined) return [{ url, version: "by_header" }];
  const { callbacks } = endpointPaths("", redirect.scopePath, { sources: [{ source: name, path }] });
  const ofSource = callbacks.filter(({ source }) => source === name);
  return ofSource.map(({ path, version }) => ({ url: `${baseUrl}${path}`, version }));
}

export function providerPlatform(
  oidc: NonNullable<Config["admin"]["oidc"]>,
  environment: Config["environment"],
): Platform {
  return createPlatform(oidc, environment === "production");
}
