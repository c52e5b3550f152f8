import { rawExchange } from "../../support/raw-exchange.ts";
import { SECRET, TOKEN } from "../../support/secrets.ts";
import { goesOn } from "../driver/goes-on.ts";
import { underFire } from "../driver/round.ts";
import { naughtyStrings } from "../hostile/naughty-strings.ts";
import { hostileRequest } from "../hostile/requests.ts";
import type { Ran, Round } from "./round.ts";

const AT_ONCE = 48;
/** What must not be found in anything that leaves the process: the secrets it was given, in each form they may take. */
const SECRETS = [SECRET, TOKEN, Buffer.alloc(32, 7).toString("base64"), Buffer.from(SECRET).toString("base64")];

/** Requests that were made to break something, over real sockets: none is a fault of the receiver's, none gets a secret out. */
export const hostile: Round = {
  name: "hostile",
  title: "hostile requests",
  full: 1_000_000,
  short: 3_000,
  run: (place) =>
    place.withTarget("sqlite", async (target): Promise<Ran> => {
      const naughty = naughtyStrings();
      const statuses = new Map<string, number>();
      const faults: string[] = [];
      const listen = (text: string, where: string): void => {
        if (SECRETS.some((secret) => text.includes(secret))) faults.push(`a secret stood in ${where}`);
      };
      const fire = {
        target,
        chance: place.chance.fork(),
        type: "ledger_posting",
        env: { LOG_LEVEL: "info", REQUEST_TIMEOUT_MS: "5000", HANDLER_TIMEOUT_MS: "2000" },
        platform: { connections: 4, rate: 50 },
        settleMs: 60_000,
      };
      const audit = await underFire(fire, async ({ fleet, chance, book }) => {
        fleet.hear(0, (text) => listen(text, "the log"));
        const origin = new URL(fleet.origins[0] ?? "");
        let sent = 0;
        const attack = async (): Promise<void> => {
          const own = chance.fork();
          while (sent < place.count && faults.length < 20) {
            sent += 1;
            const request = hostileRequest(own, SECRET, naughty);
            const answer = await rawExchange(origin, request);
            listen(answer, "an answer");
            const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? "nothing";
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (status.startsWith("5"))
              faults.push(`${status} for ${JSON.stringify(request.toString("latin1").slice(0, 600))}`);
            if (sent % 100_000 === 0) place.say(`${sent} of ${place.count}`);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, attack));
        // It is still the same process, and goes on.
        await goesOn(book, 11, 15_000);
        const { adminUrl } = await fleet.serving(0);
        listen(await (await fetch(`${adminUrl}/metrics`)).text(), "the metrics");
      });
      const figures = Object.fromEntries([...statuses].map(([status, count]) => [`answered ${status}`, count]));
      const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0);
      return { count: sent, audits: [audit], figures, faults };
    }),
};
