import {
  type SignedSampleRequest,
  type SourceDefinition,
  signedAs,
  signSample,
} from "../../sources/index.ts";
import { type ComposedCallback, type OwnListener, sendSigned } from "./send-event.ts";

/** Which callback of a source, and what its platform has registered. */
export type SourceCallback = Pick<SignedSampleRequest, "source" | "type" | "now" | "url" | "origin">;

/** The body of a callback in the platform's shape, with a new id, unsigned. @throws SampleError where none can be made */
export function sourceSample(definition: SourceDefinition, callback: SourceCallback): string {
  return Buffer.from(signSample(signedAs(definition, "none"), callback).body).toString();
}

/**
 * Sends a body to the public listener, signed as the source's platform signs.
 * @throws SampleError, NoResponseError
 */
export function sendSourceEvent(
  definition: SourceDefinition,
  callback: SourceCallback,
  { body, sign }: Pick<ComposedCallback, "body" | "sign">,
  listener: OwnListener,
) {
  const signed = signSample(signedAs(definition, sign), { ...callback, raw: Buffer.from(body) });
  const sent = {
    path: callback.url.pathname,
    headers: signed.headers,
    body: Buffer.from(signed.body).toString(),
  };
  return sendSigned(sent, listener);
}
