import { z } from "zod";
import { view } from "./page-schemas.ts";

export const GAP = view(
  "`event: gap` of a live stream: callbacks with ids above `after`, up to and including `until`, were left out. `after` is null where the first one is unknown.",
  { after: z.int().nullable(), until: z.int() },
);

export type GapView = z.infer<typeof GAP>;
