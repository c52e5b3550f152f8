import { describe, expect, it } from "vitest";
import { createArrivalCounts } from "../../src/alerts/index.ts";
import { alreadyProcessed, failed, refused, success } from "../../src/domain/index.ts";

const COUNTED = ["payment_notify"];
const of = (eventType: string) => ({ eventId: "e1", eventType });

describe("what a process counts of its callbacks", () => {
  it("is how many were authentic, however they ended, and of which type", () => {
    const arrivals = createArrivalCounts(COUNTED);
    arrivals.note("platform", { outcome: success({}), ...of("payment_notify") });
    arrivals.note("platform", { outcome: alreadyProcessed(null, true), ...of("payment_notify") });
    arrivals.note("platform", { outcome: failed("handler_failed", null), ...of("payment_notify") });
    arrivals.note("platform", { outcome: refused("event_invalid"), ...of("payment_notify") });
    expect(arrivals.take()).toEqual([
      { source: "platform", subject: "authentic", count: 4 },
      { source: "platform", subject: "type:payment_notify", count: 4 },
    ]);
  });

  it("is how many were answered 401, and of no type, without the receiver's own checks", () => {
    const arrivals = createArrivalCounts(COUNTED);
    arrivals.note("platform", { outcome: refused("signature_mismatch") });
    arrivals.note("platform", { outcome: refused("signature_missing") });
    arrivals.note("platform", { outcome: refused("endpoint_check") });
    arrivals.note("platform", { outcome: refused("too_many_requests") });
    arrivals.note("platform", { outcome: failed("overloaded", null) });
    expect(arrivals.take()).toEqual([{ source: "platform", subject: "refused", count: 2 }]);
  });

  it("does not grow with the types that somebody makes up", () => {
    const arrivals = createArrivalCounts(COUNTED);
    for (const type of ["a", "b", "__proto__"])
      arrivals.note("platform", { outcome: refused("event_type_unknown"), ...of(type) });
    expect(arrivals.take()).toEqual([{ source: "platform", subject: "authentic", count: 3 }]);
  });

  it("is taken once, and counted again where it could not be written down", () => {
    const arrivals = createArrivalCounts(COUNTED);
    arrivals.note("platform", { outcome: refused("signature_mismatch") });
    const taken = arrivals.take();
    expect(arrivals.take()).toEqual([]);
    arrivals.note("platform", { outcome: refused("signature_mismatch") });
    arrivals.putBack(taken);
    expect(arrivals.take()).toEqual([{ source: "platform", subject: "refused", count: 2 }]);
  });
});
