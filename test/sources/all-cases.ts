import { CHANGED_BODIES } from "./changed-bodies.ts";
import { WRITING_CASES } from "./refused-cases.ts";
import { SECRET_CASES } from "./secret-cases.ts";

/** Every way to be refused for a signature that a diagnosis is to find out. */
export const REFUSED_CASES = [...WRITING_CASES, ...SECRET_CASES, ...CHANGED_BODIES];
