/** The layering rule of docs/architecture.md: every import points inward, through a folder's index.ts. */
/** Entered by itself: who needs its types must not load what logs and counts. */
const TRACING = "observability/tracing";
/** What an event is received, handled and stored with. */
const CORE = ["domain", "system", "sources", "handlers", "pipeline", "store"];
const FOLDERS = {
  domain: [],
  // Other rules keep it to itself: it runs in edge functions.
  once: [],
  system: ["domain"],
  sources: ["domain", "system"],
  observability: ["domain", "system"],
  store: ["domain", "system"],
  handlers: ["domain", "store", "system"],
  pipeline: ["domain", "sources", "handlers", "store", "system", TRACING],
  retry: ["domain", "system", "sources", "handlers", "pipeline", "store", TRACING],
  outbox: ["domain", "system", "store", TRACING],
  alerts: ["domain", "system", "store"],
  oauth: ["domain", "system", "sources", "handlers", "pipeline", "store", TRACING],
  dev: ["domain", "system", "sources", "handlers", "store", "config", "observability"],
  receive: ["domain", "system", "sources", "pipeline", "oauth", "observability", "dev", "store"],
  http: ["domain", "system", "observability", "receive"],
  admin: ["domain", "system", "sources", "store", "observability", "pipeline", "retry", "oauth"],
  // Types alone of the first: it runs in browsers too.
  "admin-client": ["admin", "domain"],
  config: ["domain", "system", "sources", "store", TRACING],
  configured: [...CORE, "observability", "outbox", "oauth", "receive", "config"],
  // Types alone of admin.
  credentials: [...CORE, "observability", "admin", "config", "configured"],
  upkeep: ["domain", "system", "pipeline", "store", "observability", "dev", "config"],
  reconcile: [...CORE, "observability", "config", "configured"],
  doctor: [...CORE, "outbox", "oauth", "http", "admin", "config", "configured", "credentials", "upkeep"],
  app: [
    ...CORE,
    "retry",
    "outbox",
    "alerts",
    "oauth",
    "observability",
    "dev",
    "receive",
    "http",
    "admin",
    "config",
    "configured",
    "credentials",
    "upkeep",
    "reconcile",
    "doctor",
  ],
  embed: [...CORE, "oauth", "observability", "receive", "http", "admin", "config", "configured", "app"],
  testing: ["domain", "sources", "handlers", "observability", "store", "admin", "config", "configured", "app"],
  // Of testing the demo alone, which is a test that prints.
  cli: [
    "domain",
    "system",
    "sources",
    "handlers",
    "observability",
    "config",
    "configured",
    "retry",
    "reconcile",
    "doctor",
    "app",
    "store",
    "dev",
    "admin-client",
    "testing",
  ],
};

/** Development dependencies that scripts/bundle.config.ts puts into the package: docs/decisions/dependencies.md. */
const BUNDLED = [
  "@fastify/proxy-addr",
  "@opentelemetry",
  "@standard-schema/spec",
  "(@types/)?pg",
  "commander",
  "fastify",
  "ipaddr\\.js",
  "jose",
  "nodemailer",
  "oauth4webapi",
  "pino",
  "prom-client",
  "secure-json-parse",
  "standardwebhooks",
  "undici",
  "zod",
];

const inward = Object.entries(FOLDERS).map(([folder, allowed]) => ({
  name: `${folder}-looks-inward`,
  comment: `${folder}/ may use only ${allowed.join(", ") || "itself"}; otherwise it cannot be understood, or replaced, by itself.`,
  severity: "error",
  from: { path: `^src/${folder}/` },
  to: { path: "^src/", pathNot: `^src/(${[folder, ...allowed].join("|")})/` },
}));

/** Inside sources/: the same rule, for its folders and for the files at its root that all of them may use. */
const SOURCES = {
  formats: [],
  schemes: ["formats"],
  contract: ["formats"],
  reconcile: ["formats"],
  presets: ["formats", "schemes", "contract", "reconcile"],
  generic: ["formats", "schemes", "contract", "presets"],
  platforms: ["formats", "schemes", "contract", "reconcile", "presets", "generic"],
  diagnose: ["formats", "schemes", "contract", "presets"],
};
/** Inside store/: the files at its root are the contract, which every folder may use and which uses areas/ and migrations/. */
const STORE = {
  areas: [],
  migrations: ["areas"],
  "postgres/wire": [],
  "postgres/groups": ["postgres/wire", "areas"],
  postgres: ["postgres/wire", "postgres/groups", "areas", "migrations"],
  sqlite: ["areas", "migrations"],
  copy: ["areas", "migrations", "postgres/wire", "sqlite"],
};
const STORE_FOLDERS = Object.keys(STORE);

const inwardInStore = Object.entries(STORE).map(([folder, allowed]) => ({
  name: `store/${folder}-looks-inward`,
  comment: `store/${folder}/ may use only ${allowed.join(", ") || "itself"} and the contract at the root of store/.`,
  severity: "error",
  from: { path: `^src/store/${folder}/[^/]+$` },
  to: {
    path: `^src/store/(${STORE_FOLDERS.join("|")})/[^/]+$`,
    pathNot: `^src/store/(${[folder, ...allowed].join("|")})/[^/]+$`,
  },
}));

const GROUND = "(request|token-match|source-definition|option-error)\\.ts$";

const inwardInSources = Object.entries(SOURCES).map(([folder, allowed]) => ({
  name: `sources/${folder}-looks-inward`,
  comment: `sources/${folder}/ may use only ${allowed.join(", ") || "itself"} and the signed request.`,
  severity: "error",
  from: { path: `^src/sources/${folder}/` },
  to: {
    path: "^src/sources/",
    pathNot: `^src/sources/(${[folder, ...allowed].join("|")})/|^src/sources/${GROUND}`,
  },
}));

module.exports = {
  forbidden: [
    ...inward,
    ...inwardInSources,
    ...inwardInStore,
    {
      name: "through-the-door",
      comment: "A folder is entered through its index.ts, so that its other files can change freely.",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: {
        path: "^src/([^/]+)/",
        pathNot: [
          "^src/$1/",
          "^src/[^/]+/index\\.ts$",
          "^src/(store/(sqlite|postgres|copy)|sources/platforms|dev/[^/]+|observability/tracing(/opentelemetry)?|http/exchange)/index\\.ts$",
        ],
      },
    },
    {
      name: "no-own-door",
      comment: "Inside a folder siblings are imported directly; through its index.ts they would form a cycle.",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: { path: "^src/$1/index\\.ts$" },
    },
    {
      name: "adapters-are-apps-choice",
      comment: "Only app/ names a concrete store; elsewhere the contract must do, or a second database would not fit.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(app|store/(sqlite|postgres|copy))/" },
      to: { path: "^src/store/(sqlite|postgres)/" },
    },
    {
      name: "adapters-stay-apart",
      comment: "What both databases share belongs into store/; one adapter leaning on the other would break with it.",
      severity: "error",
      from: { path: "^src/store/(sqlite|postgres)/" },
      to: { path: "^src/store/(sqlite|postgres)/", pathNot: "^src/store/$1/" },
    },
    {
      name: "domain-is-pure",
      comment: "The domain has no clock, no chance and no input: it is what can be reasoned about alone.",
      severity: "error",
      from: { path: "^src/domain/" },
      to: { dependencyTypes: ["core", "npm"] },
    },
    {
      name: "drivers-stay-in-adapters",
      comment: "A driver outside its adapter would bypass the transaction primitive; handlers see its types.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/store/(sqlite|postgres|copy)/" },
      to: { path: "^(node:)?sqlite$|node_modules/pg/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "tracing-is-loaded-by-app",
      comment: "Only app/ names the adapter, which it loads where tracing is on; nobody else pays for it.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(app|observability/tracing/opentelemetry)/" },
      to: { path: "^src/observability/tracing/opentelemetry/" },
    },
    {
      name: "opentelemetry-stays-in-its-adapter",
      comment: "A package of OpenTelemetry that is loaded elsewhere would be loaded at every start.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/observability/tracing/opentelemetry/" },
      to: { path: "node_modules/@opentelemetry/" },
    },
    {
      name: "nothing-needs-the-benchmark",
      comment: "The benchmark looks at the product from outside; what is installed for it is nobody else's.",
      severity: "error",
      from: { path: "^(src|test/support|scripts|examples)/" },
      to: { path: "^bench/" },
    },
    {
      name: "the-benchmark-measures-processes",
      comment:
        "Servers are started as users start them. Only bench/servers/ may use the product's code, through a folder's index.ts.",
      severity: "error",
      from: { path: "^bench/", pathNot: "^bench/servers/" },
      to: { path: "^src/" },
    },
    {
      name: "nothing-needs-the-sdks",
      comment: "The platforms' SDKs prove the presets; npm ci leaves them out, and nothing else may miss them.",
      severity: "error",
      from: { pathNot: "^interop/" },
      to: { path: "^interop/" },
    },
    {
      name: "nothing-needs-the-frameworks",
      comment: "Applications bring their frameworks; npm ci leaves them out, and nothing else may miss them.",
      severity: "error",
      from: { pathNot: "^frameworks/" },
      to: { path: "^frameworks/" },
    },
    {
      name: "proofs-run-without-a-test-runner",
      comment: "The demo runs the proofs in a plain process.",
      severity: "error",
      from: {
        path: "^interop/",
        pathNot: "\\.test\\.ts$|^interop/vitest\\.config\\.ts$|^interop/node_modules/",
      },
      to: { path: "node_modules/vitest/" },
    },
    {
      name: "the-dashboard-is-a-client",
      comment:
        "What the page can do, a script can do too: it knows the admin API by its client, and nothing else of us.",
      severity: "error",
      from: { path: "^dashboard/" },
      to: { path: "^(src|test|bench|scripts)/", pathNot: "^src/admin-client/index\\.ts$" },
    },
    {
      name: "nothing-needs-the-dashboard",
      comment: "It is built for browsers; the receiver knows its files alone.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^dashboard/" },
    },
    {
      name: "receive-knows-no-socket",
      comment:
        "It works over an exchange of plain values, so that a Request or a framework can stand in for our listener.",
      severity: "error",
      from: { path: "^src/receive/" },
      to: { path: "^(node:)?(http|https|http2|net|tls)$|node_modules/fastify/" },
    },
    {
      name: "once-needs-nothing",
      comment: "oncehook/once runs in edge functions and in any bundle: no builtin, no package, types included.",
      severity: "error",
      from: { path: "^src/once/" },
      to: { pathNot: "^src/once/" },
    },
    {
      name: "no-cycle",
      comment: "A cycle makes its members one unit.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unlisted-package",
      comment: "What runs in production is in the bundle, or installed beside it.",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "unknown", "undetermined"],
        pathNot: `^node:|node_modules/(${BUNDLED.join("|")})/`,
      },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["oncehook-source", "import", "node", "default", "types"],
    },
  },
};
