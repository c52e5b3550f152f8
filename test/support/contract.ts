import type { JsonValue } from "../../src/domain/index.ts";
import {
  type ContractData,
  type ContractEnvironment,
  createEventContract,
} from "../../src/sources/contract/event-contract.ts";
import type { Contract, EventContent } from "../../src/sources/index.ts";
import type { SignedRequest } from "../../src/sources/request.ts";
import type { Verified } from "../../src/sources/schemes/scheme.ts";

/** The time of receipt in these tests, in seconds since the Unix epoch. */
export const RECEIVED = 1_790_000_000;

const ENVIRONMENT: ContractEnvironment = {
  clock: { now: () => new Date(RECEIVED * 1000 + 789) },
  origin: () => "https://hooks.example.com",
};

export function contractOf(data: ContractData, environment: Partial<ContractEnvironment> = {}): Contract {
  return createEventContract(data, { ...ENVIRONMENT, ...environment });
}

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** @param body bytes or text as they are, anything else as JSON */
export function requestOf(
  body: Uint8Array | string | JsonValue,
  { method = "POST", target = "/api/source/callback", headers = {} }: Sent = {},
): SignedRequest {
  const bytes = typeof body === "string" ? body : JSON.stringify(body);
  const distinct = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()]);
  return {
    method,
    target,
    headers: Object.fromEntries(distinct),
    body: body instanceof Uint8Array ? body : Buffer.from(bytes),
  };
}

/** The events of a callback that has some. */
export function eventsOf(
  contract: Contract,
  request: SignedRequest,
  signedText?: Verified["signedText"],
): readonly EventContent[] {
  const read = contract.read(request, signedText);
  if (read.kind === "event") return [read.event];
  if (read.kind === "batch") return read.events;
  throw new Error(`no event: ${JSON.stringify(read)}`);
}
