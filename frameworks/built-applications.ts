/** An application of a page of the docs, as its framework builds and starts it. */
export interface BuiltApplication {
  readonly name: string;
  readonly page: string;
  readonly packages: readonly string[];
  /** Beside the blocks of the page. */
  readonly files: Readonly<Record<string, string>>;
  /** A program of the application with its arguments; it gets no variable and no database. */
  readonly build: readonly string[];
  start(port: number): { readonly args: readonly string[]; readonly variables?: Record<string, string> };
}

const LAYOUT = `import type { ReactNode } from "react";
export default ({ children }: { children: ReactNode }) => <html lang="en"><body>{children}</body></html>;
`;
const NEXT_PACKAGES = ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1", "@types/react@19.3.0"];

const nextJs = (bundler: string): BuiltApplication => ({
  name: `Next.js with ${bundler}`,
  page: "docs/frameworks/nextjs.md",
  packages: [...NEXT_PACKAGES, "typescript@6.0.3", "@types/node@24.19.2"],
  files: { "app/layout.tsx": LAYOUT, "app/page.tsx": "export default () => <p>The shop</p>;\n" },
  build: ["next", "build", `--${bundler}`],
  start: (port) => ({ args: ["node_modules/next/dist/bin/next", "start", "-p", String(port)] }),
});

const VITE_CONFIG = `import adapter from "@sveltejs/adapter-node";
import { sveltekit } from "@sveltejs/kit/vite";
import { defineConfig } from "vite";
export default defineConfig({ plugins: [sveltekit({ adapter: adapter(), csrf: { trustedOrigins: ["*"] } })] });
`;

const SVELTE_KIT: BuiltApplication = {
  name: "SvelteKit",
  page: "docs/frameworks/sveltekit.md",
  packages: [
    ...["@sveltejs/kit@3.2.0", "@sveltejs/adapter-node@6.0.1", "@sveltejs/vite-plugin-svelte@7.3.1"],
    ...["svelte@5.57.3", "vite@8.3.8", "typescript@6.0.3"],
  ],
  files: {
    "vite.config.mjs": VITE_CONFIG,
    "src/app.html": "<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n",
    "src/routes/+page.svelte": "<p>The shop</p>\n",
  },
  build: ["vite", "build"],
  start: (port) => ({ args: ["build"], variables: { PORT: String(port) } }),
};

export const BUILT_APPLICATIONS = [nextJs("turbopack"), nextJs("webpack"), SVELTE_KIT];
