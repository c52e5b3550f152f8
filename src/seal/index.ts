export { createSealer, keyIdOf, type Sealer, SealKeyMissing } from "./sealer.ts";
