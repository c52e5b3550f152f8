import { expect, it } from "vitest";
import { FAULTS, outcomeCounts } from "../../src/domain/index.ts";

const none = { handled: 0, duplicates: 0, ignored: 0, refused: 0, failed: 0 };

it.each(Object.entries(FAULTS).filter(([code]) => code !== "endpoint_check"))(
  "the overview counts %s as failed where its response is 5xx, and else as refused",
  (code, { status }) => {
    expect(outcomeCounts({ [code]: 1 })).toEqual({ ...none, [status >= 500 ? "failed" : "refused"]: 1 });
  },
);

it("the overview counts an accepted event whose first attempt failed as failed, and no longer as handled", () => {
  expect(outcomeCounts({ accepted: 2, accepted_failed: 1 })).toEqual({ ...none, handled: 1, failed: 1 });
});
