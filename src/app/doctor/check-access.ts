import { CALLBACK_PATH } from "../../admin/index.ts";
import type { Config } from "../../config/index.ts";
import { providerPlatform } from "../access.ts";
import { type Finding, failure, ok } from "./finding.ts";

/** That the OpenID provider of operators can be discovered, and which redirect address it must know. */
export async function checkAccess({ admin, environment }: Config): Promise<Finding[]> {
  const about = "admin access";
  const { oidc, baseUrl } = admin;
  if (oidc === null) return [ok(about, "by token; ADMIN_OIDC_ISSUER is not set")];
  try {
    await providerPlatform(oidc, environment).server();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [failure(about, `ADMIN_OIDC_ISSUER: ${oidc.issuer} cannot be discovered: ${why}`)];
  }
  return [ok(about, `register this redirect address with the provider: ${baseUrl}${CALLBACK_PATH}`)];
}
