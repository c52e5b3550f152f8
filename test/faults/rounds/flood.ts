import { countOf } from "../../support/effects.ts";
import type { Dialect } from "../../support/open-target.ts";
import { SECRET } from "../../support/secrets.ts";
import { until } from "../../support/until.ts";
import { audit } from "../driver/audit.ts";
import { Book } from "../driver/book.ts";
import { Fleet } from "../driver/fleet.ts";
import { type DeliveryRules, StrictPlatform } from "../driver/strict-platform.ts";
import { tenants } from "../ledger/sources.ts";
import type { Ran, Round } from "./round.ts";

const ANSWER = "250ms";
const HANDLER_MS = 10;
/** Of the other tenant: the first answer of an event may be a failure, the answer to its retry may not. */
const QUIET: DeliveryRules = { deadlineMs: 3_000, retryMs: [500], everyMs: 100, queues: 1, disabledAfter: 2 };
const FLOOD: DeliveryRules = {
  deadlineMs: 20_000,
  retryMs: [100],
  everyMs: 0,
  queues: 128,
  disabledAfter: Number.POSITIVE_INFINITY,
};
const SETTLING_MS = 1_800_000;

/** A tenant sends far more events of one key than run one after the other; another tenant sends one now and then. */
export function flood(dialect: Dialect): Round {
  return {
    name: `flood-${dialect}`,
    title: `events of one key of a tenant at full speed, beside another tenant, answer within, ${dialect}`,
    full: 10_000,
    short: 400,
    run: (place) =>
      place.withTarget(dialect, async (target): Promise<Ran> => {
        const env = { LEDGER_OUTSIDE_MS: String(HANDLER_MS), LEDGER_TENANTS_ANSWER: ANSWER };
        const fleet = await Fleet.start(target, { env });
        try {
          const name = place.chance.fork().below(1e9).toString(36);
          const platform = (tenant: string, rules: DeliveryRules) => {
            const book = new Book(`${tenant}${name}`, "ledger_outside", SECRET, { mayBeAccepted: true });
            const address = new URL(`/hooks/${tenant}`, fleet.origins[0]);
            return { book, sends: new StrictPlatform(address, tenants(ANSWER, tenant), book, rules) };
          };
          const [loud, quiet] = [platform("loud", FLOOD), platform("quiet", QUIET)];
          const count = Math.ceil(place.count / 100);
          await Promise.all([loud.sends.run(place.count), quiet.sends.run(count)]);
          await until(async () => (await countOf(target, "ledger_effects")) === place.count + count, SETTLING_MS);
          await until(async () => (await countOf(target, "oncehook_failures")) === 0);
          await fleet.stopAll();
          const { longestMs, failed } = quiet.sends.seen;
          return {
            count: place.count,
            audits: [await audit(target, loud.book), await audit(target, quiet.book)],
            figures: {
              "longest of the other tenant in ms": Math.round(longestMs),
              "its failed deliveries": failed,
            },
          };
        } finally {
          await fleet.destroy();
        }
      }),
  };
}
