import { afterEach, describe, expect, it, vi } from "vitest";
import { failed, REMEDIES, refused, success } from "../../src/domain/index.ts";
import { createMetrics, type MetricsOptions } from "../../src/observability/index.ts";

const none = { accepted: 0, waiting: 0, exhausted: 0, rejected: 0 };

function setUp(failureCounts: MetricsOptions["failureCounts"] = async () => none, withProcessMetrics = false) {
  const deliveryCounts = async () => ({ waiting: 2, dead: 1 });
  return createMetrics({
    withProcessMetrics,
    knownTypes: ["payment_notify"],
    sources: ["platform", "stripe"],
    patternOf(source, type) {
      if (source === "all") return "*";
      return source === "stripe" && type.startsWith("invoice.") ? "invoice.*" : undefined;
    },
    failureCounts,
    acceptedAge: async () => 3,
    deliveryCounts,
    waitingCallbacks: () => 3,
    mostWaitingCallbacks: 1_000,
    ping: async () => {},
  });
}

/** The samples of one metric, as Prometheus reads them. */
async function samples(metrics: ReturnType<typeof setUp>, name: string): Promise<string[]> {
  const { text } = await metrics.render();
  return text.split("\n").filter((line) => new RegExp(`^${name}[ {]`).test(line));
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the metrics", () => {
  it("count callbacks by event type and HTTP status", async () => {
    const metrics = setUp();
    metrics.callback({ outcome: success({}), eventType: "payment_notify" }, 200, 0.01);
    const duplicate = { kind: "already_processed", result: null, isSameBody: true } as const;
    metrics.callback({ outcome: duplicate, eventType: "payment_notify" }, 200, 0.01);
    metrics.callback({ outcome: failed("internal", null), eventType: "payment_notify" }, 500, 0.01);
    expect(await samples(metrics, "callback_requests_total")).toEqual([
      'callback_requests_total{event_type="payment_notify",status="200"} 2',
      'callback_requests_total{event_type="payment_notify",status="500"} 1',
    ]);
  });

  it("the metrics fold types that no handler knows, and absent ones, into unknown", async () => {
    const metrics = setUp();
    for (const eventType of ["made-up", "__proto__", "constructor"]) {
      metrics.callback({ outcome: refused("event_type_unknown"), eventType }, 400, 0);
    }
    metrics.callback({ outcome: refused("signature_missing") }, 401, 0);
    expect(await samples(metrics, "callback_requests_total")).toEqual([
      'callback_requests_total{event_type="unknown",status="400"} 3',
      'callback_requests_total{event_type="unknown",status="401"} 1',
    ]);
  });

  it("the metrics count a type that a pattern takes under its pattern, at its source only", async () => {
    const metrics = setUp();
    for (const eventType of ["invoice.paid", "invoice.made-up", "customer.created"])
      metrics.callback({ outcome: success({}), eventType }, 200, 0, "stripe");
    metrics.callback({ outcome: refused("event_type_unknown"), eventType: "invoice.paid" }, 400, 0, "platform");
    metrics.callback({ outcome: refused("signature_missing") }, 401, 0, "all");
    expect(await samples(metrics, "callback_requests_total")).toEqual([
      'callback_requests_total{event_type="invoice.*",status="200"} 2',
      'callback_requests_total{event_type="unknown",status="200"} 1',
      'callback_requests_total{event_type="unknown",status="400"} 1',
      'callback_requests_total{event_type="unknown",status="401"} 1',
    ]);
  });

  it("the metrics count diagnoses by source, each of them from 0 on, so that Prometheus sees the first increase", async () => {
    const metrics = setUp();
    metrics.diagnosed("stripe", "unknown");
    const found = await samples(metrics, "oncehook_signature_diagnoses_total");
    expect(found).toContain('oncehook_signature_diagnoses_total{source="stripe",code="unknown"} 1');
    expect(found).toContain('oncehook_signature_diagnoses_total{source="platform",code="unknown"} 0');
    expect(found).toHaveLength(2 * Object.keys(REMEDIES).length);
  });

  it("the metrics measure the processing time in a histogram without labels of its own", async () => {
    const metrics = setUp();
    metrics.callback({ outcome: success({}) }, 200, 0.03125);
    metrics.callback({ outcome: success({}) }, 200, 0.5);
    expect(await samples(metrics, "callback_duration_seconds_count")).toEqual(["callback_duration_seconds_count 2"]);
    expect(await samples(metrics, "callback_duration_seconds_sum")).toEqual(["callback_duration_seconds_sum 0.53125"]);
    expect(await samples(metrics, "callback_duration_seconds_bucket")).toContain(
      'callback_duration_seconds_bucket{le="0.05"} 1',
    );
  });

  it("the metrics count how callbacks and attempts of each source ended", async () => {
    const metrics = setUp();
    metrics.callback({ outcome: refused("signature_mismatch") }, 401, 0, "stripe");
    metrics.callback({ outcome: refused("malformed_request") }, 400, 0);
    metrics.attempt("platform", "retry", success({}));
    metrics.attempt("stripe", "inline", failed("handler_failed", new Error("x")));
    expect(await samples(metrics, "oncehook_callback_outcomes_total")).toEqual([
      'oncehook_callback_outcomes_total{source="stripe",outcome="signature_mismatch"} 1',
      'oncehook_callback_outcomes_total{source="",outcome="malformed_request"} 1',
    ]);
    expect(await samples(metrics, "oncehook_attempts_total")).toEqual([
      'oncehook_attempts_total{source="platform",kind="retry",outcome="success"} 1',
      'oncehook_attempts_total{source="stripe",kind="inline",outcome="handler_failed"} 1',
    ]);
  });

  it("the metrics count mismatches, the secrets in use, and callbacks under way", async () => {
    const metrics = setUp();
    metrics.bodyMismatch("platform");
    metrics.typeMismatch();
    metrics.credentialUsed("platform", "hmac", "previous");
    metrics.inFlight.inc();
    expect(await samples(metrics, "oncehook_body_mismatch_total")).toEqual([
      'oncehook_body_mismatch_total{source="platform"} 1',
      'oncehook_body_mismatch_total{source="stripe"} 0',
    ]);
    expect(await samples(metrics, "oncehook_type_mismatch_total")).toEqual(["oncehook_type_mismatch_total 1"]);
    expect(await samples(metrics, "oncehook_credentials_used_total")).toEqual([
      'oncehook_credentials_used_total{source="platform",method="hmac",secret="previous"} 1',
    ]);
    expect(await samples(metrics, "oncehook_in_flight")).toEqual(["oncehook_in_flight 1"]);
  });

  it("the metrics ask for the failures at each scrape", async () => {
    let waiting = 1;
    const metrics = setUp(async () => ({ accepted: 0, waiting, exhausted: 7, rejected: 0 }));
    expect(await samples(metrics, "oncehook_failures")).toEqual([
      'oncehook_failures{state="accepted"} 0',
      'oncehook_failures{state="waiting"} 1',
      'oncehook_failures{state="exhausted"} 7',
      'oncehook_failures{state="rejected"} 0',
    ]);
    waiting = 2;
    expect(await samples(metrics, "oncehook_failures")).toContain('oncehook_failures{state="waiting"} 2');
  });

  it.each<[string, MetricsOptions["failureCounts"]]>([
    ["rejects", () => Promise.reject(new Error("away"))],
    [
      "throws",
      () => {
        throw new Error("closed");
      },
    ],
  ])("metrics are returned although the database %s", async (_, failureCounts) => {
    const { text } = await setUp(failureCounts).render();
    expect(text).toContain("oncehook_in_flight 0");
  });

  it("metrics are returned within two seconds although the database does not respond", async () => {
    const metrics = setUp(() => new Promise(() => {}));
    vi.useFakeTimers();
    const rendered = metrics.render();
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await rendered).text).toContain("oncehook_in_flight 0");
  });

  it("the metrics of a server describe the process and the event loop's lag", async () => {
    const { contentType, text } = await setUp(undefined, true).render();
    expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain("nodejs_eventloop_lag_seconds");
    expect(text).toContain("process_resident_memory_bytes");
  });

  it("the metrics of two receivers in one process are separate", async () => {
    const [one, other] = [setUp(), setUp()];
    one.bodyMismatch("platform");
    expect(await samples(other, "oncehook_body_mismatch_total")).toContain(
      'oncehook_body_mismatch_total{source="platform"} 0',
    );
    one.close();
    expect((await one.render()).text.trim()).toBe("");
  });
});
