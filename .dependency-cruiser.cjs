/** The layering rule of docs/architecture.md: every import points inward, through a room's door. */
const ROOMS = {
  domain: [],
  fetch: [],
  files: [],
  verify: ["domain", "fetch"],
  seal: ["domain"],
  loop: ["domain"],
  trace: ["domain"],
  store: ["domain", "files"],
  handlers: ["domain", "store", "seal"],
  receive: ["domain", "verify", "handlers", "store", "seal", "trace"],
  retry: ["domain", "loop", "handlers", "receive", "store", "trace"],
  outbox: ["domain", "loop", "store", "trace"],
  alert: ["domain", "loop", "store"],
  oauth: ["domain", "fetch", "verify", "seal", "handlers", "receive", "store", "trace"],
  observe: ["domain", "trace"],
  hear: ["domain", "seal", "store", "observe"],
  reach: ["domain", "fetch", "store", "config"],
  sandbox: ["domain", "fetch", "verify", "handlers", "config"],
  http: ["domain", "verify", "receive", "oauth", "observe", "hear", "store", "trace"],
  admin: ["domain", "verify", "store", "observe", "receive", "retry", "oauth"],
  // Types alone of the first: it runs in browsers too.
  "admin-client": ["admin", "domain"],
  config: ["domain", "files", "store", "trace"],
  app: [
    "domain",
    "fetch",
    "files",
    "verify",
    "seal",
    "store",
    "handlers",
    "receive",
    "loop",
    "retry",
    "outbox",
    "alert",
    "oauth",
    "observe",
    "trace",
    "hear",
    "reach",
    "sandbox",
    "http",
    "admin",
    "config",
  ],
  testing: ["domain", "verify", "handlers", "observe", "store", "admin", "config", "app"],
  cli: ["domain", "verify", "handlers", "observe", "config", "app", "store", "sandbox", "admin-client"],
};

const inward = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-looks-inward`,
  comment: `${room}/ may use only ${allowed.join(", ") || "itself"}; otherwise it cannot be understood, or replaced, by itself.`,
  severity: "error",
  from: { path: `^src/${room}/` },
  to: { path: "^src/", pathNot: `^src/(${[room, ...allowed].join("|")})/` },
}));

module.exports = {
  forbidden: [
    ...inward,
    {
      name: "through-the-door",
      comment:
        "A room is entered through its index.ts; a back door would make its inside everybody's business.",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: {
        path: "^src/([^/]+)/",
        pathNot: [
          "^src/$1/",
          "^src/[^/]+/index\\.ts$",
          "^src/(store/(sqlite|postgres)|trace/opentelemetry)/index\\.ts$",
        ],
      },
    },
    {
      name: "no-own-door",
      comment: "Inside a room siblings are imported directly; through the door they would form a cycle.",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: { path: "^src/$1/index\\.ts$" },
    },
    {
      name: "adapters-are-apps-choice",
      comment:
        "Only app/ names a concrete store; elsewhere the contract must do, or a second database would not fit.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(app|store/(sqlite|postgres))/" },
      to: { path: "^src/store/(sqlite|postgres)/" },
    },
    {
      name: "adapters-stay-apart",
      comment:
        "What both databases share belongs into store/; one adapter leaning on the other would break with it.",
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
      comment:
        "A driver outside its adapter would bypass the transaction primitive. The demo reads its own file; transaction.ts has its type for handlers.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: "^src/(store/(sqlite|postgres)|cli/demo)/|^src/store/transaction\\.ts$",
      },
      to: { path: "^(node:)?sqlite$|node_modules/pg/" },
    },
    {
      name: "tracing-is-loaded-by-app",
      comment: "Only app/ names the adapter, which it loads where tracing is on; nobody else pays for it.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(app|trace/opentelemetry)/" },
      to: { path: "^src/trace/opentelemetry/" },
    },
    {
      name: "opentelemetry-stays-in-its-adapter",
      comment: "A package of OpenTelemetry that is loaded elsewhere would be loaded at every start.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/trace/opentelemetry/" },
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
        "Servers are started as users start them. Only bench/servers/ may use the product's code, through a room's door.",
      severity: "error",
      from: { path: "^bench/", pathNot: "^bench/servers/" },
      to: { path: "^src/" },
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
      name: "no-cycle",
      comment: "A cycle makes its members one unit.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unlisted-package",
      comment: "What runs in production is installed in production.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "unknown", "undetermined"], pathNot: "^node:" },
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
