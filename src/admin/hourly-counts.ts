import { z } from "zod";

/** Of a problem. */
export const hourly = () =>
  z
    .array(z.int())
    .describe("First seen by the hour, the 24 hours up to now; the last one is not over. Of the newest 10,000.");
