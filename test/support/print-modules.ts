import { registerHooks } from "node:module";

/** Prints on standard error, with `NODE_OPTIONS=--import`, each module of the project that a process loads. */
const ROOT = new URL("../../src/", import.meta.url).href;

registerHooks({
  load(url, context, next) {
    if (url.startsWith(ROOT)) process.stderr.write(`loads ${url.slice(ROOT.length)}\n`);
    return next(url, context);
  },
});
