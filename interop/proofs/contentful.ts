import { signRequest } from "@contentful/node-apps-toolkit";
import { contentful } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

/** What the SDK encodes once more; the path of the registered address is taken as it is. */
const QUERY = "?space=a%20b&tag=1";

export const contentfulProof: PlatformProof = {
  preset: "contentful",
  by: "@contentful/node-apps-toolkit, signRequest",
  secrets: [
    "qlfkupAwYA4ZkNnmBzmNypFqSRWOwhpGRFwQFn5iPNAGHSYdvwed1C77n0Eiaz19",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210",
  ],
  source: (secrets) => contentful({ secret: secrets }),
  callback({ secret, id, now, url }) {
    const body = JSON.stringify({ sys: { id: "entry", type: "Entry" }, fields: { title: { de: "Grüße" } } });
    const headers = {
      "X-Contentful-Topic": "ContentManagement.Entry.publish",
      "X-Contentful-Idempotency-Key": id,
      "Content-Type": "application/vnd.contentful.management.v1+json",
    };
    const path = new URL(url).pathname + QUERY;
    const signed = signRequest(secret, { method: "POST", path, headers, body }, now.getTime());
    const all = Object.entries({ ...headers, ...signed }).map(([name, value]) => [name.toLowerCase(), value]);
    return { query: QUERY, headers: Object.fromEntries(all), body: Buffer.from(body) };
  },
  toleranceSeconds: null,
};
