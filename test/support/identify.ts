import { isRefused, type Refused } from "../../src/domain/index.ts";
import { createPlatformContract, type EventContent } from "../../src/sources/index.ts";
import { POSTED } from "./posted.ts";

const contract = createPlatformContract({
  eventTypeFrom: "either",
  rejectTypeMismatch: false,
  typeMismatch: () => {},
});

/** What the specification's platform reads of a verified body. */
export function identify(body: Uint8Array): EventContent | Refused {
  const found = contract.read({ ...POSTED, headers: {}, body });
  if (isRefused(found)) return found;
  if (found.kind !== "event") throw new Error("the platform sends one event in a callback");
  return found.event;
}
