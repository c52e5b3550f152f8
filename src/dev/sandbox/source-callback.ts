import { randomBytes } from "node:crypto";
import { type SignedSampleRequest, type SourceDefinition, signSample } from "../../sources/index.ts";
import { type ComposedCallback, type OwnListener, sendSigned } from "./send-event.ts";

/** Which callback of a source, and what its platform has registered. */
export type SourceCallback = Pick<SignedSampleRequest, "source" | "type" | "now" | "url" | "origin">;

/** The body of a callback in the platform's shape, with a new id. @throws SampleError where only the platform can make it */
export function sourceSample(definition: SourceDefinition, callback: SourceCallback): string {
  return Buffer.from(signSample(definition, callback).body).toString();
}

/**
 * Sends a body to the public listener with the headers of the source's platform.
 * @throws SampleError, NoResponseError
 */
export function sendSourceEvent(
  definition: SourceDefinition,
  callback: SourceCallback,
  { body, sign }: Pick<ComposedCallback, "body" | "sign">,
  listener: OwnListener,
) {
  const { headers } = signSample(signedAs(definition, sign), { ...callback, raw: Buffer.from(body) });
  return sendSigned({ path: callback.url.pathname, headers, body }, listener);
}

function signedAs(definition: SourceDefinition, sign: ComposedCallback["sign"]): SourceDefinition {
  if (sign === "none") return { ...definition, sign: () => ({}) };
  const { sign: signRight } = definition;
  if (sign === "right" || signRight === undefined) return definition;
  return { ...definition, sign: (request) => signWrong(signRight, request) };
}

type Sign = NonNullable<SourceDefinition["sign"]>;

/** The signature of another body; in the place of a token, which is the same for every body, a random one. */
function signWrong(sign: Sign, request: Parameters<Sign>[0]): Record<string, string> {
  const right = sign(request);
  const wrong = sign({ ...request, body: Buffer.concat([request.body, Buffer.from(" ")]) });
  if (Object.entries(right).some(([name, value]) => wrong[name] !== value)) return wrong;
  const names = Object.keys(right);
  return Object.fromEntries(names.map((name) => [name, randomBytes(32).toString("base64url")]));
}
