import type { CallbackLogEntry } from "../../src/domain/index.ts";

export function logRow(over: Partial<CallbackLogEntry> = {}): CallbackLogEntry {
  return {
    requestId: "r1",
    receivedAt: "2026-01-02T03:04:05.678Z",
    source: "platform",
    eventId: null,
    eventType: "payment_notify",
    method: "POST",
    url: "/api/platform/callback",
    remoteAddress: "127.0.0.1",
    requestHeaders: "{}",
    requestBody: "{}",
    outcome: "success",
    responseStatus: 200,
    responseBody: "{}",
    processingMs: 1.5,
    error: null,
    ...over,
  };
}
