import { expect, it } from "vitest";
import { runOncehook } from "../support/child.ts";
import { withMigrated } from "../support/databases.ts";
import { startReceiver, TOKEN } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { Wire } from "../support/wire.ts";

it("the admin API and the command line say within seconds that the database does not answer", () =>
  withMigrated("postgres", async (target) => {
    const wire = await Wire.to(Number(new URL(target.url).port));
    const receiver = await startReceiver({ ...target, url: wire.through(target.url) });
    try {
      expect((await receiver.admin("/api/v1/failures")).status).toBe(200);
      wire.freeze();
      const start = performance.now();
      const asking = receiver.admin("/api/v1/failures").then((answer) => {
        expect([answer.status, answer.body]).toEqual([503, { error: "the database does not answer" }]);
        expect(performance.now() - start).toBeLessThan(8_000);
      });
      const env = {
        ...CHILD_ENVIRONMENT,
        ADMIN_TOKEN: TOKEN,
        ADMIN_PORT: new URL(receiver.adminOrigin).port,
      };
      const [{ code, stderr }] = await Promise.all([runOncehook(["failures"], env), asking]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("503: the database does not answer")]);
    } finally {
      await wire.close();
      await receiver.stop();
    }
  }));
