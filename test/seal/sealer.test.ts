import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSealer } from "../../src/seal/index.ts";

const sealer = createSealer(Buffer.alloc(32, 1));
const sealed = sealer.seal(Buffer.from("tokens"), "users u1");

describe("sealing", () => {
  it("opens what it sealed, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (plain, context) => {
        expect(Buffer.from(sealer.open(sealer.seal(plain, context), context))).toEqual(Buffer.from(plain));
      }),
    );
  });

  it("never gives the same bytes twice, and none of the plain ones", () => {
    expect(Buffer.compare(sealer.seal(Buffer.from("tokens"), "users u1"), sealed)).not.toBe(0);
    expect(Buffer.from(sealed).includes("tokens")).toBe(false);
  });

  it("does not open under another context, so that a value cannot be moved to another row", () => {
    expect(() => sealer.open(sealed, "users u2")).toThrow(
      "the sealed value was changed, or belongs to another row",
    );
  });

  it("does not open when any bit was changed", () => {
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed);
      changed[index]! ^= 1;
      expect(() => sealer.open(changed, "users u1")).toThrow();
    }
  });

  it("names the variable when it was sealed under another key", () => {
    expect(() => createSealer(Buffer.alloc(32, 2)).open(sealed, "users u1")).toThrow("ENCRYPTION_KEY");
  });

  it("does not take anything else for a sealed value", () => {
    expect(() => sealer.open(Buffer.from("short"), "users u1")).toThrow(
      "this is not a sealed value of this service",
    );
  });
});
