import { Command } from "commander";
import type { AdminClient, EndpointCheckView, SourcesView, SourceView } from "../admin-client/index.ts";
import { BUILT_IN_PROTOCOL } from "../domain/index.ts";
import {
  type AdminOptions,
  adminCommand,
  callAdmin,
  type ListOptions,
  listCommand,
  printAnswer,
  printList,
} from "./call-admin.ts";
import { outcomesText } from "./outcome-counts.ts";
import { escapeControls, type Given, printResult, table } from "./output.ts";

interface RelearnOptions extends AdminOptions, Given<"from" | "fingerprint"> {
  readonly forget?: true;
  readonly choose?: true;
}

type Check = EndpointCheckView & { readonly source: string };

/** Longer than the checks of a source's addresses take at worst. */
const CHECK_LIMIT_MS = 20_000;

export function sourcesCommand(): Command {
  const relearn = adminCommand("relearn")
    .description("Take another secret from a platform that chooses it itself, for fifteen minutes.")
    .argument("<source>", "as oncehook.config.ts or SOURCES names it")
    .option("--forget", "delete the secrets that were learnt before, at once")
    .option("--from <address>", "take it from this address or network alone")
    .option("--choose", "answer each one that is sent, and take none until you choose it by its fingerprint")
    .option("--fingerprint <fingerprint>", "take this one of those that oncehook sources lists")
    .action(async (source: string, options: RelearnOptions) => {
      const { forget = false, from, choose, fingerprint } = options;
      const request = { forget, from, choose, fingerprint };
      const ask = ({ sources }: AdminClient) => sources.relearn(source, request);
      await printAnswer(options, ask, ({ until, offered_secrets: { length } }) => {
        const before = forget ? "no earlier one verifies any more" : "earlier ones verify as well";
        if (until === null) return `${source}: the secret ${fingerprint} verifies; ${before}.\n`;
        const sender = from === undefined ? "" : ` from ${from}`;
        const takes = choose === true ? "answers each secret, and takes none," : `takes one secret${sender}`;
        const warning = `Warning: ${length} secrets were sent to it in the last day; see oncehook sources, and --fingerprint.\n`;
        return `${source} ${takes} until ${until}; ${before}. Have the platform send it: register the address again.\n${length < 2 ? "" : warning}`;
      });
    });
  return adminCommand("sources")
    .description("List sources and their endpoint URLs. With --check, exit code 1 if one is not reachable.")
    .option("--check", "have the running receiver check its own endpoint URLs")
    .addCommand(relearn)
    .addCommand(tenantsCommand())
    .addCommand(addCommand())
    .action(sources);
}

function tenantsCommand(): Command {
  return listCommand("tenants")
    .description("List when each tenant's secrets were used last, of a source whose tenants have their own.")
    .argument("<source>", "as oncehook.config.ts names it")
    .option("--tenant <tenant>", "only this tenant")
    .action(async (source: string, options: ListOptions & Given<"tenant">) => {
      const { limit, cursor, tenant } = options;
      const list = await callAdmin(options, (client) => client.sources.tenants(source, { limit, cursor, tenant }));
      const rows = list.items.map(({ tenant: name, current_used_at, previous_used_at }) => {
        return [name, current_used_at ?? "never", previous_used_at ?? "never"];
      });
      const head = ["tenant", "current secret", "previous secret"];
      printList(list, options, head, rows, "no tenant has sent a callback");
    });
}

function addCommand(): Command {
  return new Command("add")
    .description("Add a source to oncehook.config.ts, or to SOURCES, and its variable to .env.")
    .argument("<preset>", "the platform's preset, such as stripe or github")
    .option("--env <file>", "the file of variables to add to", ".env")
    .action(async (preset: string, options) => (await import("./sources-add.ts")).addSource(preset, options));
}

async function sources(options: AdminOptions & { readonly check?: true }): Promise<void> {
  const list = await callAdmin(options, (client) => client.sources.list());
  if (options.check === undefined) return printResult(options, list, () => sourcesText(list));
  const checks: Check[] = [];
  const names = list.items.map(({ source }) => source);
  for (const source of list.oauth === null ? names : [...names, "oauth"]) {
    const ask = (client: AdminClient) => client.sources.check(source);
    checks.push({ source, ...(await callAdmin(options, ask, () => CHECK_LIMIT_MS)) });
  }
  printResult(
    options,
    { ...list, checks },
    () => `${sourcesText(list)}\n${checks.map(checkText).join("")}${cost(checks)}`,
  );
  if (checks.some(({ reached }) => !reached)) process.exitCode = 1;
}

/** The receiver's own requests arrive like callbacks, so the limits of one address count them. */
function cost(checks: readonly Check[]): string {
  const count = checks.reduce((sum, { addresses }) => sum + addresses.length, 0);
  return `These ${count} requests of the receiver to itself count against the rate limits of the address they came from.\n`;
}

function sourcesText({ items, oauth, handlers }: SourcesView): string {
  const hasNames = handlers.some(({ name }) => name !== null);
  const types = handlers.map(({ source, event_type, name, versions, has_prepare }) => {
    const named = hasNames ? [name ?? ""] : [];
    return [source, event_type, ...named, versions.join(", "), has_prepare ? "yes" : "no"];
  });
  const head = ["source", "event type", ...(hasNames ? ["name"] : []), "versions", "prepare"];
  const flows =
    oauth === null
      ? ""
      : `OAuth redirect address: ${oauth.redirect_uri}\nOAuth start address: ${oauth.start_url ?? "none"}\n\n`;
  return `${items.map(sourceText).join("\n")}\n${flows}${table(head, types)}\n`;
}

function sourceText(described: SourceView): string {
  const { source, addresses, authenticated_by, authentication } = described;
  const [first, ...others] = addresses;
  // Only the built-in protocol chooses among versions.
  const isPlatform = described.about === null;
  const shown = isPlatform || first === undefined ? addresses : [first];
  const also = isPlatform || others.length === 0 ? "" : `also served: ${others.map(({ url }) => url).join(" ")}\n`;
  const rows = shown.map(({ method, url, version }) => [
    `${method} ${url}`,
    version === "by_header" ? "chosen by X-API-Version" : version,
  ]);
  const secrets = authentication.flatMap(({ method, header, secrets }) => {
    const where = `${method}, in ${header}`;
    if (described.has_tenant_secrets)
      return [["those of tenants", where, "", `see oncehook sources tenants ${source}`]];
    if (secrets.length === 0) return [[method === "secret" ? "none yet" : "the platform's JWK Set", where]];
    return secrets.map(({ name, last_used_at, advice }) => [name, where, last_used_at ?? "never", advice ?? ""]);
  });
  const uses = secrets.length === 0 ? "" : `\n${table(["secret", "method", "last used", "advice"], secrets)}\n`;
  const offered = described.offered_secrets.map(({ fingerprint, address, count, last_at, verifies }) => {
    return [fingerprint, address, String(count), last_at, verifies ? "yes" : "no"];
  });
  const offers =
    offered.length === 0 ? "" : `\n${table(["secret sent", "by", "times", "last", "verifies"], offered)}\n`;
  return (
    `${isPlatform ? BUILT_IN_PROTOCOL : `source ${source}`}, authenticated by ${authenticated_by}\n${factsText(described)}\n` +
    `${table([isPlatform ? "register one of these" : "register this", "version"], rows)}\n${also}${uses}${offers}`
  );
}

const PROOFS = {
  signs: "tested with the platform's SDK, which signs",
  verifies: "tested with the platform's SDK, which verifies, or a published vector",
  community: "tested with a community library, since the platform has none, or a vector of one",
  documented: "written from the platform's documentation",
  own: "your own description",
};

/** One line for each fact. */
function factsText({ about, answer, rate, event_types, unhandled, activity }: SourceView): string {
  const { last_callback_at, last_callback_within_seconds, outcomes, p99_ms } = activity;
  const of = (value: number | null, unit: string) => (value === null ? "not documented" : `${value} ${unit}`);
  const own =
    about === null
      ? []
      : [
          ["preset", `${about.preset} (${about.title}), ${PROOFS[about.proof]}`],
          ["documentation", about.docs],
          ["to do", about.instruction],
          ["key", about.identity],
          ["deadline", of(about.deadline_seconds, "s")],
          ["retries", about.retry_hours === 0 ? "none" : of(about.retry_hours, "h")],
          ["disables after", about.disables ?? "not documented"],
        ];
  const rows = [
    ...own,
    ["answer", answer.within_ms === null ? answer.mode : `within ${answer.within_ms} ms`],
    ["rate limit", rate === null ? "off" : `${rate.callbacks} in ${rate.seconds} s, for each address`],
    ["event types", `${event_types.join(", ") || "none"}; others: ${unhandled}`],
    [
      "last 24 hours",
      last_callback_at === null
        ? "no callback"
        : `${outcomesText(outcomes)}; p99 ${p99_ms ?? 0} ms, the last one ${last_callback_within_seconds === 0 ? "at" : "after"} ${last_callback_at}`,
    ],
  ];
  return rows.map(([name = "", value = ""]) => `  ${name.padEnd(14)}  ${value}\n`).join("");
}

/** Messages may hold what another server says of itself, so control characters are escaped. */
function checkText({ addresses }: Check): string {
  return addresses
    .map(({ url, reached, message, warning }) => {
      const result = `${reached ? "reached    " : "NOT REACHED"} ${url}\n  ${escapeControls(message)}\n`;
      return warning === null ? result : `${result}  Warning: ${escapeControls(warning)}\n`;
    })
    .join("");
}
