export * from "./credential-uses.ts";
export { readDiagnosisSecrets } from "./diagnosis-secrets.ts";
export type { LearntSecrets } from "./learnt-secrets.ts";
export { reencryptAll, startReencryption } from "./reencryption.ts";
