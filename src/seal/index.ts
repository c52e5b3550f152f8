export { createSealer, type Sealer, SealKeyMissing } from "./sealer.ts";
