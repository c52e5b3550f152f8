import type { Config } from "../config/index.ts";
import {
  BUILT_IN_TABLES,
  baseUrlChanged,
  databaseReason,
  handlerOptOutHint,
  keyStamp,
  networkWarnings,
  writableByOthersWarnings,
} from "../configured/index.ts";
import type { Handler } from "../handlers/index.ts";
import {
  type Inspection,
  type InspectOptions,
  isWrongKey,
  MaintenanceError,
  NEWEST_SCHEMA,
  pendingSteps,
  type RefusedCallback,
  type ServiceInspection,
  WRONG_KEY,
} from "../store/index.ts";
import { slowHandlerTexts } from "../upkeep/index.ts";
import { checkSecrets, type Finding, failure, ok, warning, warnings } from "./check-secrets.ts";
import { storedEventWarnings, unconfiguredChannelWarnings } from "./startup-warnings.ts";

export interface DoctorInput {
  readonly config: Config;
  /** Reads the configured database; only app/ names the adapters. */
  readonly inspect: (database: Config["database"], options: InspectOptions) => Promise<Inspection>;
}

/**
 * That the database answers, fits this version and this environment, and keeps what it commits.
 * @param own handlers take the place of the built-in ones of their types, and make none of those tables
 * @param destinations the configured notification channels; deliveries that wait for another channel are reported
 */
export async function checkDatabase(
  { config, inspect }: DoctorInput,
  destinations: readonly string[],
  now: Date,
  own: readonly Handler[] = [],
): Promise<Finding[]> {
  const { database, environment } = config;
  const about = "database";
  const judged = (text: string) => (environment === "production" ? failure(about, text) : warning(about, text));
  const builtIn = config.builtInHandlers.filter((type) => !own.some((handler) => handler.type === type));
  const known = [...writableByOthersWarnings(config).map(judged), ...warnings(about, networkWarnings(database))];
  let found: Inspection;
  try {
    const tables = Object.values(BUILT_IN_TABLES).map(({ table }) => table);
    found = await inspect(database, { tables, handlers: own.map(({ name }) => name) });
  } catch (error) {
    if (error instanceof MaintenanceError) return [...known, failure(about, error.message)];
    return [...known, failure(about, `does not respond: ${databaseReason(error)}; check DATABASE_URL`)];
  }
  const findings = [...known, ...tablesInTheWay(builtIn, found)];
  if (!found.exists) return [...findings, ok(about, "is new: the first start creates the tables")];
  findings.push(...found.durabilityWarnings.map(judged));
  const add = (level: typeof failure, text: string) => findings.push(level(about, text));
  if (found.schema > NEWEST_SCHEMA)
    add(failure, `has schema ${found.schema}, this version knows ${NEWEST_SCHEMA}; start the newer version`);
  if (found.environment !== undefined && found.environment !== environment)
    add(failure, `belongs to the environment ${found.environment}, not to ${environment}; use another one`);
  if (isWrongKey(found.keyId, keyStamp(config))) findings.push(failure("ENCRYPTION_KEY", WRONG_KEY));
  if (baseUrlChanged(config, found.baseUrl))
    add(warning, `was last used with ${found.baseUrl}; CALLBACK_BASE_URL is now ${config.baseUrl}`);
  const steps = pendingSteps(found.schema);
  if (steps > 0) findings.push(ok(about, pendingText(found.schema, steps)));
  if (findings.length === 0) findings.push(ok(about, `answers, schema ${found.schema} of ${NEWEST_SCHEMA}`));
  const messagesOf = (all: readonly { readonly message: string }[]) => all.map(({ message }) => message);
  return [
    ...findings,
    ...(await checkSecrets(config, found, now)),
    ...found.refusedSources.map(({ message, remedy }) => ({ ...warning("refused", message), remedy })),
    ...checkRefusedCallbacks(found.refused),
    ...warnings("handlers", slowHandlerTexts(found.slowHandlers, now)),
    ...warnings("handlers", messagesOf(storedEventWarnings(found.storedTypes, own))),
    ...warnings("failures", failureTexts(found.failures)),
    ...warnings("notifications", unconfiguredChannelWarnings(found.waitingByChannel, destinations)),
  ];
}

const pendingText = (schema: number, steps: number) =>
  `has schema ${schema} of ${NEWEST_SCHEMA}: the first start applies ${steps === 1 ? "1 step" : `${steps} steps`}, and checks that need them are left out until then`;

const failureTexts = (counts: ServiceInspection["failures"]) =>
  (["exhausted", "rejected"] as const).flatMap((state) =>
    counts[state] === 0 ? [] : [`${counts[state]} ${state}: oncehook failures --state ${state} lists them`],
  );

/** A built-in handler's table that is there, and not of its own making: the start would fail on it. */
function tablesInTheWay(handlers: readonly string[], found: Inspection): Finding[] {
  const applied = found.exists ? found.handlerMigrations : [];
  return handlers.flatMap((type) => {
    const made = BUILT_IN_TABLES[type];
    if (made === undefined || !found.tables.includes(made.table)) return [];
    if (applied.some((name) => name.endsWith(made.migration))) return [];
    return [failure("database", `holds a table "${made.table}" that is not Oncehook's: ${handlerOptOutHint(type)}`)];
  });
}

/**
 * The reasons why platforms themselves are refused, among the newest callbacks in the log. Each cause comes once for a
 * source, and none that an unauthenticated sender can have sent.
 */
function checkRefusedCallbacks(refused: readonly RefusedCallback[]): Finding[] {
  const confirmed = refused.filter(({ diagnosis }) => diagnosis.confirmed);
  const causes = Map.groupBy(confirmed, ({ source, diagnosis }) => `${source} ${diagnosis.code}`);
  return [...causes.values()].flatMap(([newest, ...others]) => {
    if (newest === undefined) return [];
    const { source, receivedAt, diagnosis } = newest;
    const [count, at] =
      others.length === 0
        ? ["a refused callback", "at"]
        : [`${others.length + 1} refused callbacks`, "the last one at"];
    return [
      {
        ...warning(
          "refused",
          `${count} of source ${source} among the newest 1000 in the log, ${at} ${receivedAt} (${diagnosis.code}): ` +
            `${diagnosis.message} ${diagnosis.remedy}`,
        ),
        remedy: diagnosis.remedy,
      },
    ];
  });
}
