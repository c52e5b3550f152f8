import type { Config } from "../config/index.ts";
import type { ConfiguredSecret } from "./credential-uses.ts";

const VARIABLES = { hmac: "SIGNING_SECRET", token: "CALLBACK_TOKEN", jwt: "JWT_SECRET" } as const;

/** The variable, and the place in it where it holds several: never the value. */
export function secretName({ method, index, count }: ConfiguredSecret, { authentication }: Config): string {
  if (method === "jwt" && authentication.jwt?.keys.from === "pem") {
    return `JWT_PUBLIC_KEY_FILE, key ${index + 1} of ${count}`;
  }
  const variable = VARIABLES[method];
  if (index === 0) return variable;
  return count > 2 ? `${variable}_PREVIOUS, ${index} of ${count - 1}` : `${variable}_PREVIOUS`;
}
