import type { SchemaStep } from "./schema-step.ts";

/**
 * The requests that `oncehook listen` fetches, sealed whole: they carry credentials and signatures that are valid. `bytes`
 * stands before what it is the length of, so that adding lengths up reads no request.
 */
export const heard: SchemaStep = {
  number: 2,
  name: "heard",
  statements: ({ id, time, bytes }) => [
    `CREATE TABLE oncehook_heard (
      id ${id},
      request_id text NOT NULL UNIQUE,
      received_at ${time} NOT NULL,
      bytes integer NOT NULL,
      sealed_request ${bytes} NOT NULL
    )`,
  ],
};
