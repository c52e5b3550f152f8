/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
export { PRESETS } from "./by-name.ts";
export * from "./functions.ts";
