import { fileBlocks } from "../test/support/doc-blocks.ts";
import { copiedFiles, writtenFiles } from "./docs/page-application.ts";
import type { Platform } from "./scenarios.ts";
import { sceneModule } from "./scene-module.ts";

/** An application of a page of the docs, as its framework builds and starts it. It serves the scenarios besides. */
export interface BuiltApplication {
  readonly platform: Platform;
  readonly packages: readonly string[];
  /** By their paths. */
  readonly files: Readonly<Record<string, string>>;
  /** A program of the application with its arguments; it gets no variable and no database. */
  readonly build: readonly string[];
  start(port: number): Start;
}

export interface Start {
  readonly args: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

const NEXT_PAGE = fileBlocks("docs/frameworks/nextjs.md");
/** For a folder of its own. */
export const STANDALONE = { "next.config.ts": `${NEXT_PAGE["next.config.ts"]}config.output = "standalone";\n` };
/** Without the page of callbacks no line is needed. */
export const WITHOUT_PAGE = { "next.config.ts": "export default {};\n" };
const SCENE_SOURCES = ["billing", "calls", "files", "boards"];

/** Each of the scenarios' sources has a route of its own: the page's receiver does not know them. */
const sceneRoutes = (path: (source: string) => string, text: string) =>
  Object.fromEntries(SCENE_SOURCES.map((source) => [path(source), text]));

const ORDERS = "Response.json(await request.json());";

export const NEXT_JS: BuiltApplication = {
  platform: {
    name: "Next.js",
    takesUnknownSources: true,
    exceptions: [
      {
        scenario: /^a form is handled whose signed address has quotes/,
        because: "Next.js hands over no address as it was sent, and docs/frameworks/nextjs.md says so",
      },
    ],
  },
  packages: [
    ...["next@16.4.6", "react@19.3.1", "react-dom@19.3.1", "@types/react@19.3.0"],
    ...["typescript@6.0.3", "@types/node@24.19.2", "zod"],
  ],
  files: {
    ...writtenFiles("nextjs"),
    ...NEXT_PAGE,
    "app/orders/route.ts": `export const POST = async (request: Request) => ${ORDERS}\n`,
    "lib/scene.ts": sceneModule("toNextJsHandler", "given"),
    "app/scene/route.ts": 'export { control as POST } from "../../lib/scene";\n',
    ...sceneRoutes(
      (source) => `app/api/${source}/callback/route.ts`,
      'export { GET, HEAD, POST } from "../../../../lib/scene";\n',
    ),
  },
  build: ["next", "build"],
  start: (port) => ({ args: ["node_modules/next/dist/bin/next", "start", "-p", String(port)] }),
};

export const SVELTE_KIT: BuiltApplication = {
  platform: { name: "SvelteKit", takesUnknownSources: true },
  packages: [
    ...["@sveltejs/kit@3.2.0", "@sveltejs/adapter-node@6.0.1", "@sveltejs/vite-plugin-svelte@7.3.1"],
    ...["svelte@5.57.3", "vite@8.3.8", "typescript@6.0.3", "zod"],
  ],
  files: {
    ...copiedFiles(),
    ...fileBlocks("docs/frameworks/sveltekit.md"),
    "src/routes/orders/+server.ts": `export const POST = async ({ request }) => ${ORDERS}\n`,
    "src/lib/server/scene.ts": sceneModule("toSvelteKitHandler", "given.request"),
    "src/routes/scene/+server.ts": 'export { control as POST } from "../../lib/server/scene";\n',
    ...sceneRoutes(
      (source) => `src/routes/api/${source}/callback/+server.ts`,
      'export { GET, HEAD, POST } from "../../../../lib/server/scene";\n',
    ),
  },
  build: ["vite", "build"],
  start: (port) => ({ args: ["build"], variables: { PORT: String(port) } }),
};
