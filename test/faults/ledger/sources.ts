import { github, sendgrid, stripe, wise } from "oncehook/sources";
import { SECRET } from "../../support/secrets.ts";

/** The sources of the fault rounds, made alike by the receivers and by the platforms that sign for them. */

/** @param answer `after`, or the time of `within`, such as `300ms` */
export const shop = (answer: string) =>
  stripe({ secret: SECRET, answer: answer === "after" ? answer : { within: answer as `${number}ms` } });

/** The same with a secret for each tenant; `only` is the one for whom a platform signs. */
export const tenants = (answer: `${number}ms`, only?: string) =>
  stripe({
    secret: only === undefined ? ({ params }) => tenantSecret(String(params.tenant)) : tenantSecret(only),
    ...(only === undefined && { path: "/hooks/:tenant" }),
    answer: { within: answer },
  });

const tenantSecret = (tenant: string) => `whsec_of_the_tenant_${tenant}`;

/** @param publicKey of the pair that signs, as SendGrid shows it: SPKI in base64 */
export const mail = (publicKey: string) => sendgrid({ publicKey });

/** @param publicKey of the pair that signs, in PEM */
export const transfers = (publicKey: string) => wise({ publicKey, answer: "inline" });

export const code = () => github({ secret: SECRET });
