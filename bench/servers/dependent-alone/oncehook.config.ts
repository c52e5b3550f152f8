import { GroupEligibility } from "../../../src/store/postgres/groups/group-eligibility.ts";

/** The switch between the two servers of the case: every event runs in its own transaction. */
GroupEligibility.prototype.needsOwnTransaction = () => true;

export { default } from "../dependent/oncehook.config.ts";
