import type { FastifyInstance } from "fastify";
import { requireCaller } from "../access/guard.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { HttpError, operation } from "../operation.ts";
import type { BackgroundRounds } from "./installation.ts";
import type { BackgroundView, ChecksView, ConfigurationView, StorageView } from "./settings-schemas.ts";

const CONFIGURATION = operation({
  summary: "The configuration with its origins",
  description: "Secrets are named, and never shown.",
  responses: { 200: ["Every variable, and the options of sources.", "Configuration"] },
});
const LAST_CHECKS = operation({
  summary: "The last run of doctor's checks",
  responses: { 200: ["As this process has run them.", "Checks"] },
});
const RUN_CHECKS = operation({
  summary: "Run doctor's checks",
  action: "checks.run",
  description:
    "Configuration, sources, database, secrets, certificate and addresses, as `oncehook doctor` checks them; it asks the services that are configured. " +
    "What compares files of several environments is left to the command.",
  responses: { 200: ["What was found.", "Checks"], 504: "The checks did not end in time." },
});
const STORAGE = operation({
  summary: "What is stored, and for how long",
  description: "Rows and bytes come from the database's statistics or from a sample: no table is read as a whole.",
  responses: { 200: ["By what it is.", "Storage"] },
});
const BACKGROUND = operation({
  summary: "Background work and its rounds",
  responses: { 200: ["Of this process.", "Background"] },
});

export function registerSettings(app: FastifyInstance, deps: AdminDependencies): void {
  const { about, installation, mask, store, clock, log } = deps;
  let last: ChecksView = { ran_at: null, ran_by: null, findings: [] };

  app.get("/api/v1/configuration", CONFIGURATION, async (): Promise<ConfigurationView> => {
    const { database, values } = installation;
    const shown = values.map(({ isSecret, defaultText, value, ...row }) => ({
      ...row,
      value: value === null ? null : mask.text(value),
      is_secret: isSecret,
      default_text: defaultText,
    }));
    return { ...about, database, values: shown };
  });
  app.get("/api/v1/checks", LAST_CHECKS, async (): Promise<ChecksView> => last);
  app.post("/api/v1/checks", RUN_CHECKS, async (request): Promise<ChecksView> => {
    const { actor } = requireCaller(request);
    const findings = await installation.check();
    if (findings === undefined)
      throw new HttpError(
        504,
        "the checks did not end in time; `oncehook doctor` on the receiver's machine waits longer",
      );
    const masked = findings.map(({ remedy, ...finding }) => {
      const shown = { ...finding, message: mask.text(finding.message) };
      return remedy === undefined ? shown : { ...shown, remedy: mask.text(remedy) };
    });
    last = { ran_at: clock.now().toISOString(), ran_by: actor, findings: masked };
    log.info(
      { actor, failures: masked.filter(({ level }) => level === "failure").length },
      "an operator ran the checks",
    );
    return last;
  });
  app.get("/api/v1/storage", STORAGE, async (): Promise<StorageView> => {
    const { areas, databaseBytes, freeBytes } = await store.sizes.list();
    return {
      database: store.dialect,
      ...{ database_bytes: databaseBytes, free_bytes: freeBytes },
      areas: areas.map(({ isEstimated, ...area }) => ({ ...area, is_estimated: isEstimated })),
      retention: installation.retention,
    };
  });
  app.get("/api/v1/background", BACKGROUND, async (): Promise<BackgroundView> => {
    return { items: installation.rounds().map(presentRounds) };
  });
}

function presentRounds({ name, everyMs, isAtWork, last, nextAt }: BackgroundRounds): BackgroundView["items"][number] {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return {
    name,
    state: everyMs === undefined ? "off" : isAtWork ? "running" : "waiting",
    every_ms: everyMs ?? null,
    last_started_at: time(last?.startedAt),
    last_duration_ms: last === undefined ? null : last.endedAt - last.startedAt,
    last_failed: last?.hasFailed ?? false,
    next_at: time(nextAt),
  };
}
