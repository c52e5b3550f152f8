import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type AuthMethod, type Config, ConfigError, type JwtConfig } from "../config/index.ts";
import type { Clock } from "../domain/index.ts";
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
  pemKeys,
  type Scheme,
  secretKeys,
} from "../verify/index.ts";

/**
 * How the platform authenticates, as `AUTH_METHOD` combines it.
 * @throws ConfigError when the file with its public keys cannot be used
 */
export async function platformScheme({ authentication }: Config, clock: Clock): Promise<Scheme> {
  const { methods, signing, token, jwt } = authentication;
  const keys = jwt === null ? undefined : await keysOf(jwt);
  const scheme = (method: AuthMethod): Scheme => {
    if (method === "hmac") return createHmacScheme({ ...signing, clock });
    if (method === "token") return createTokenScheme(token);
    if (jwt === null || keys === undefined)
      throw new TypeError("the configuration lets no jwt pass without its keys");
    return createJwtScheme({ ...jwt, keys, clock });
  };
  return anyOf(methods.map((all) => allOf(all.map(scheme))));
}

async function keysOf({ keys, algorithm }: JwtConfig): Promise<JwtKeys> {
  if (keys.from === "secrets") return secretKeys(keys.secrets);
  if (keys.from === "jwks") return jwksKeys(keys.url);
  return fixedKeys(await pemKeysOf(keys.file, algorithm));
}

/** The platform's keys in a file. @throws ConfigError when one of them cannot be used */
export async function pemKeysOf(file: string, algorithm: JwtAlgorithm): Promise<KeyObject[]> {
  try {
    return pemKeys(await readFile(file, "utf8"), algorithm);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError([`JWT_PUBLIC_KEY_FILE: got ${JSON.stringify(file)}, which cannot be used: ${why}`]);
  }
}

/** A warning where some way to authenticate leaves the body open to whoever sees one request. */
export function unprotectedBody({ authentication }: Config): string | undefined {
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

/** Such as `hmac and token, or by jwt`. */
export function methodsInWords({ authentication }: Config): string {
  return authentication.methods.map((all) => all.join(" and ")).join(", or by ");
}
