export { createLoop, type Loop } from "./loop.ts";
