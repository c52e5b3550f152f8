import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject } from "../domain/index.ts";

/** Returns what it gets, so that an event costs nothing more. */
const UNVALIDATED: StandardSchemaV1<unknown, never> = Object.freeze({
  "~standard": Object.freeze({
    version: 1,
    vendor: "oncehook",
    validate: (value: unknown) => ({ value: value as never }),
  }),
});

/** The schema of a handler without one: `event.data` is the payload as parsed. */
export type Unvalidated = StandardSchemaV1<unknown, JsonObject>;

/**
 * Types `event.data` by a type of the platform's SDK, such as `data: typed<Stripe.InvoicePaidEvent>()`. It validates
 * nothing: the payload is authentic, but may lack fields or be of another version. A number whose digits a JavaScript
 * number does not hold is a string of them, whatever `Data` says.
 */
export function typed<Data extends object>(): StandardSchemaV1<unknown, Data> {
  return UNVALIDATED;
}
