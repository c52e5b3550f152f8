import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { requireCaller } from "./access/guard.ts";
import type { RouteDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import { flag, text } from "./request-parameters.ts";

const ERASE = operation({
  summary: "Erase a person's payloads",
  action: "erasure.start",
  dryRunAction: "erasure.dry_run",
  auditedFields: ["path"],
  description:
    "Of all events whose payload has the value at the path: from originals, callback log, failures, notifications, " +
    "prepare steps and attempts. Records stay, so that a late duplicate is not processed again. A failed " +
    "event that is erased runs only if its platform sends it again. The audit log gets an entry `erasure.done` with these counts, and never the value.",
  querystring: { dry_run: flag.describe("Only counts.") },
  body: z.strictObject({
    path: text("Names with dots between them, from the payload's root, its `data` or its `data.object`.").regex(
      /^[^.\s]+(?:\.[^.\s]+)*$/,
    ),
    value: text("The value at the path, exactly."),
  }),
  responses: { 200: ["What was erased, or would be.", "Erasure"] },
});

export function registerErasure(app: FastifyInstance, { erase, access, store, clock, log }: RouteDependencies): void {
  app.post("/api/v1/erasures", ERASE, async (request) => {
    const { path, value } = request.body;
    const { dry_run } = request.query;
    const { actor, role } = requireCaller(request);
    const erased = await erase({ path, value }, dry_run);
    if (!dry_run) {
      const at = clock.now();
      const remoteAddress = access.remoteAddress(request.raw);
      const proof = { action: "erasure.done", target: null, detail: { path, ...erased }, outcome: "done" } as const;
      await store.audit.begin({ at, actor, role, remoteAddress, ...proof });
      log.info({ path, ...erased }, "an operator erased payloads");
    }
    return { ...erased, dry_run };
  });
}
