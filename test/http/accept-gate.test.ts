import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createAcceptGate } from "../../src/http/accept-gate.ts";
import { payment, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** Whether requests may begin after so many turns of the event loop, each of which brought a connection. */
async function isClearAfter(turns: number, maxMs: number): Promise<boolean> {
  const gate = createAcceptGate(maxMs);
  gate.connectionAccepted();
  let isClear = false;
  void gate.quiet?.then(() => {
    isClear = true;
  });
  for (let turn = 0; turn < turns; turn += 1) {
    await nextTurn();
    gate.connectionAccepted();
  }
  return isClear;
}

describe("requests", () => {
  it("requests start at once while no connection arrives", () => {
    expect(createAcceptGate().quiet).toBeUndefined();
  });

  it("requests wait while each turn of the event loop brings another connection", async () => {
    expect(await isClearAfter(50, 60_000)).toBe(false);
  });

  it("requests start after a turn that brought no connection", async () => {
    const gate = createAcceptGate(60_000);
    gate.connectionAccepted();
    await gate.quiet;
    expect(gate.quiet).toBeUndefined();
  });

  it("requests start in the end although connections never cease to arrive", async () => {
    expect(await isClearAfter(5, 0)).toBe(true);
  });

  it("requests count what they waited for connections as their own time", () =>
    withReceiver("sqlite", async (receiver) => {
      const flood = floodOf(Number(new URL(receiver.publicOrigin).port));
      // Each of the last two comes when the one before it is answered, at the end of a wait and the begin of the next.
      for (let sent = 0; sent < 3; sent += 1) await receiver.send(payment());
      await flood.end();
      const times = receiver.lines.filter(({ msg }) => msg === "callback").map((line) => Number(line.duration_ms));
      expect(times).toHaveLength(3);
      expect(Math.max(...times)).toBeGreaterThan(50);
    }));

  it("a callback whose client leaves while it waits for connections is logged as malformed", () =>
    withReceiver("sqlite", async (receiver) => {
      const port = Number(new URL(receiver.publicOrigin).port);
      const flood = floodOf(port);
      await Promise.all(Array.from({ length: 10 }, () => leaveAfterHead(port)));
      await flood.end();
      await until(async () => (await receiver.count("oncehook_callbacks", "response_status = 400")) === 10);
      const { text } = (await receiver.admin("/metrics")).body;
      expect(text).toContain('oncehook_callback_outcomes_total{source="platform",outcome="malformed_request"} 10');
    }));
});

/** On a connection that the server has accepted, since the reset of another one hides its head. */
async function leaveAfterHead(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "data");
  const head = "POST /api/platform/callback HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
  socket.write(head, () => socket.resetAndDestroy());
  await once(socket, "close");
}

/** A new connection in each turn of the event loop. */
function floodOf(port: number): { end(): Promise<void> } {
  let isOver = false;
  async function flood(): Promise<void> {
    while (!isOver) {
      const socket = connect(port, "127.0.0.1", () => socket.destroy());
      socket.on("error", () => {});
      await nextTurn();
    }
  }
  const ended = flood();
  return {
    end() {
      isOver = true;
      return ended;
    },
  };
}
