import type { CaptureBuffer } from "../dev/capture/index.ts";
import type { FlowDependencies } from "../oauth/index.ts";
import type { CallbackLog, Mask, Metrics } from "../observability/index.ts";
import type { CallbackResult, Receiver, Source } from "../pipeline/index.ts";
import type { DistinctHeaders } from "../sources/index.ts";
import type { Diagnoser } from "./diagnoser.ts";
import type { CountUpTo, Policy } from "./rate-limit.ts";

export interface AdmissionSettings {
  readonly isAllowed: (address: string) => boolean;
  readonly requireHttps: boolean;
  /** The callback and OAuth routes have further limits beside the default one. */
  readonly limits: { readonly everywhere: readonly Policy[]; readonly callbacks: readonly Policy[] };
  readonly count: CountUpTo;
}

type CaptureTokenCheck =
  | { readonly result: "right" | "not allowed" | "wrong" }
  | { readonly result: "too many"; readonly waitSeconds: number };

export interface CaptureAccess {
  readonly buffer: CaptureBuffer;
  /** Shares the count of wrong tokens with the admin API. @param address as `normalAddress` returns it */
  readonly checkToken: (token: string, address: string) => CaptureTokenCheck;
}

/** @param ms from its arrival @param source undefined where it came to none */
export type OnResponse = (
  result: Pick<CallbackResult, "outcome" | "eventId" | "eventType">,
  status: number,
  ms: number,
  source?: string,
) => void;

export interface ReceiveDependencies {
  /** The specification's platform. */
  readonly source: Source;
  readonly receiver: Receiver;
  readonly oauth: FlowDependencies & {
    /** Why no flow can start, and what to do; undefined where one can. */
    readonly startRefusal: string | undefined;
  };
  readonly admission: AdmissionSettings;
  /** @param source null for a request that came to none */
  readonly maskFor: (source: string | null | undefined) => Mask;
  readonly metrics: Metrics;
  readonly callbackLog: CallbackLog;
  readonly diagnoser: Diagnoser;
  /** Whether the headers prove a request by which this receiver checks a registered address. */
  readonly isEndpointCheck: (headers: DistinctHeaders) => boolean;
  /** Null where callbacks are not kept for listeners: always in production. */
  readonly capture: CaptureAccess | null;
  /** Counts a callback after its response, wherever callbacks are counted; may not throw. */
  readonly onResponse: OnResponse;
  /** Notes an event of a batch, whose callback is counted once; may not throw. */
  readonly onItem: (result: Parameters<OnResponse>[0], source: string) => void;
  readonly tls: boolean;
}
