import type { SourceDefinition } from "../../src/sources/index.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

interface StandardProof extends Pick<PlatformProof, "preset" | "by" | "vector"> {
  readonly source: (options: { readonly secret: readonly string[] }) => SourceDefinition;
  /** What the event is, of a type that the platform documents. */
  readonly body: (event: ProofEvent) => object;
  readonly headers?: "webhook" | "svix";
  /** Where the platform's own library signs; the preset does otherwise. @returns the header's text */
  readonly sign?: (event: ProofEvent, payload: string) => string;
  /** The platform's SDK: it throws, or returns false, for what it does not take. */
  readonly verify?: (request: StandardRequest) => unknown;
  readonly secrets?: PlatformProof["secrets"];
}

export interface StandardRequest {
  readonly payload: string;
  readonly headers: Record<string, string>;
  readonly secret: string;
  readonly url: string;
}

/** A proof of a platform that signs as Standard Webhooks. */
export function standardProof(data: StandardProof): PlatformProof {
  const { preset, by, source, body, headers = "webhook", sign, verify, vector } = data;
  return {
    preset,
    by,
    secrets: data.secrets ?? [
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
      "whsec_c2VjcmV0LW9mLWEtcm90YXRpb24tMzI=",
    ],
    source: (secrets) => source({ secret: secrets }),
    callback(event): ProofRequest {
      const { secret, id, now } = event;
      const payload = JSON.stringify(body(event));
      const named = { [`${headers}-id`]: id };
      const bytes = Buffer.from(payload);
      const signed =
        sign === undefined
          ? source({ secret: [secret] }).sign?.({ body: bytes, headers: named, now })
          : {
              [`${headers}-timestamp`]: String(Math.floor(now.getTime() / 1000)),
              [`${headers}-signature`]: sign(event, payload),
            };
      return { headers: { ...named, ...signed, "content-type": "application/json" }, body: bytes };
    },
    ...(verify !== undefined && {
      async accepts(request: ProofRequest, { secret, url }: ProofEvent) {
        const payload = Buffer.from(request.body).toString("utf8");
        try {
          return (await verify({ payload, headers: { ...request.headers }, secret, url })) !== false;
        } catch {
          return false;
        }
      },
    }),
    ...(vector !== undefined && { vector }),
    toleranceSeconds: 300,
  };
}
