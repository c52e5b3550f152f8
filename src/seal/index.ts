export { createSealer, keyIdOf, SealBroken, type Sealer, SealKeyMissing } from "./sealer.ts";
