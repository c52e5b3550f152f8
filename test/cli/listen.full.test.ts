import { describe, expect, it, onTestFinished } from "vitest";
import { DIALECTS, type Target, withDatabase } from "../support/databases.ts";
import { type Laptop, type Listening, startListening, withLaptop } from "../support/laptop.ts";
import { type ServerProcess, startServer } from "../support/process.ts";
import { payment } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { type Wire, withWire } from "../support/wire.ts";

/** `LISTEN_CALLBACKS=10000 npx vitest run test/cli/listen.test.ts` is the long form. */
const CALLBACKS = Number(process.env.LISTEN_CALLBACKS ?? 300);
const LIMIT_MS = 60_000 + CALLBACKS * 60;
/** So that what was sent does not lie in the buffers of a connection as a whole. */
const LONG = { note: "é".repeat(2_000) };
const CUTS = 5;
const AT_ONCE = 8;
/** A port on which nobody listens. */
const NOWHERE = 9;
const DEPLOYED = { CAPTURE: "on", RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", LOG_LEVEL: "warn" };

/** Two processes where the database can be shared, one otherwise. */
async function withDeployed<T>(target: Target, use: (servers: ServerProcess[]) => Promise<T>): Promise<T> {
  const servers: ServerProcess[] = [];
  try {
    const count = target.dialect === "postgres" ? 2 : 1;
    for (let started = 0; started < count; started += 1) servers.push(await startServer(target, DEPLOYED));
    return await use(servers);
  } finally {
    for (const { child } of servers) child.kill("SIGTERM");
    await Promise.all(servers.map(({ ended }) => ended));
  }
}

async function sendAll(servers: readonly ServerProcess[], ids: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  const left = [...ids];
  const hand = async (number: number) => {
    const server = servers[number % servers.length]!;
    for (let id = left.shift(); id !== undefined; id = left.shift())
      statuses.push((await server.send(payment({ event_id: id }, LONG))).status);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => hand(number)));
  return statuses;
}

const againOf = (listening: Listening) => listening.stderr().split("connected again").length - 1;

/** Five times, spread over the delivery, in the middle of whatever is said; and for a while nobody gets through. */
async function cutFiveTimes(laptop: Laptop, listening: Listening, wire: Wire, url: string): Promise<void> {
  for (let cut = 0; cut < CUTS; cut += 1) {
    const delivered = (CALLBACKS * (cut + 1)) / (CUTS + 1);
    await until(() => laptop.arrived.length >= delivered && againOf(listening) === cut, LIMIT_MS);
    wire.lead(NOWHERE);
    wire.cutAll();
    setTimeout(() => wire.lead(Number(new URL(url).port)), 100 * cut);
  }
  await until(() => againOf(listening) === CUTS, LIMIT_MS);
}

describe.each(DIALECTS)("oncehook listen, from a receiver on %s,", (dialect) => {
  it(
    "oncehook listen delivers every callback once and with a valid signature, though the connection is cut five times",
    () =>
      withDatabase(dialect, (target) =>
        withDeployed(target, (servers) =>
          withLaptop((laptop) =>
            withWire(servers[0]!.url, async (wire) => {
              const from = wire.through(servers[0]!.url);
              const listening = startListening(["--from", from, "--to", `${laptop.origin}/hook`]);
              onTestFinished(() => void listening.child.kill("SIGKILL"));
              await until(() => listening.stderr().includes("listening to"), LIMIT_MS);
              const ids = Array.from({ length: CALLBACKS }, (_, index) => `evt_${index}`);
              const begun = performance.now();
              const [statuses] = await Promise.all([
                sendAll(servers, ids),
                cutFiveTimes(laptop, listening, wire, servers[0]!.url),
              ]);
              const sent = performance.now();
              // They come in order: behind this one nothing of the others can be left.
              await servers[0]!.send(payment({ event_id: "the last one" }));
              await until(() => laptop.arrived.at(-1)?.eventId === "the last one", LIMIT_MS);
              const took = [sent - begun, performance.now() - begun].map((ms) => (ms / 1_000).toFixed(1));
              expect(statuses.filter((status) => status !== 200)).toEqual([]);
              expect(laptop.arrived.filter(({ isAuthentic }) => !isAuthentic)).toEqual([]);
              expect(laptop.arrived.map(({ eventId }) => eventId).sort()).toEqual([...ids, "the last one"].sort());
              expect(await listening.interrupt()).toBe(0);
              expect(listening.stdout().trim().split("\n")).toHaveLength(CALLBACKS + 1);
              expect(listening.stderr()).toContain(`${CALLBACKS + 1} delivered`);
              process.stderr.write(
                `listen on ${dialect}: ${CALLBACKS} callbacks sent in ${took[0]} s, delivered in ${took[1]} s, in ` +
                  `${againOf(listening)} cuts\n`,
              );
            }),
          ),
        ),
      ),
    LIMIT_MS * 3,
  );
});
