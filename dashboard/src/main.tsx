import "@mantine/core/styles.css";
import "./font.css";
import "./page.css";
import "./marks.css";
import "./shell/shell.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./queries.ts";
import { createPages } from "./routes.tsx";
import { readableColors, THEME } from "./theme.ts";

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
// For the library below Mantine's dialogs, which writes a style element of its own and knows of no other way.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const container = document.getElementById("root");
if (container === null) throw new Error("index.html has no element for the page");
createRoot(container).render(
  <StrictMode>
    <MantineProvider
      theme={THEME}
      cssVariablesResolver={readableColors}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={createPages(queries)} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
