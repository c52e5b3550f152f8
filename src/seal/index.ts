export { createSealer, SealBroken, type Sealer } from "./sealer.ts";
