import { z } from "zod";

/** ISO 8601. */
export const time = () => z.string().meta({ format: "date-time" });
/** Of any depth. */
export const object = () => z.record(z.string(), z.unknown());
