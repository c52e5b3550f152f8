import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEncryptor } from "../../src/system/encryption.ts";

const encryptor = createEncryptor(Buffer.alloc(32, 1));
const encrypted = encryptor.encrypt(Buffer.from("tokens"), "users u1");

describe("sealing", () => {
  it("the encryptor opens what it encrypted, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (plain, context) => {
        expect(Buffer.from(encryptor.decrypt(encryptor.encrypt(plain, context), context))).toEqual(Buffer.from(plain));
      }),
    );
  });

  it("the encryptor never gives the same bytes twice, and none of the plain ones", () => {
    expect(Buffer.compare(encryptor.encrypt(Buffer.from("tokens"), "users u1"), encrypted)).not.toBe(0);
    expect(Buffer.from(encrypted).includes("tokens")).toBe(false);
  });

  it("the encryptor does not open under another context, so that a value cannot be moved to another row", () => {
    expect(() => encryptor.decrypt(encrypted, "users u2")).toThrow(
      "the sealed value was changed, or belongs to another row",
    );
  });

  it("the encryptor does not open when any bit was changed", () => {
    for (let index = 0; index < encrypted.length; index += 1) {
      const changed = Uint8Array.from(encrypted);
      changed[index]! ^= 1;
      expect(() => encryptor.decrypt(changed, "users u1")).toThrow();
    }
  });

  it("the encryptor names the variable when it was sealed under another key", () => {
    expect(() => createEncryptor(Buffer.alloc(32, 2)).decrypt(encrypted, "users u1")).toThrow("ENCRYPTION_KEY");
  });

  it("the encryptor does not take anything else for a sealed value", () => {
    expect(() => encryptor.decrypt(Buffer.from("short"), "users u1")).toThrow(
      "this is not a sealed value of this service",
    );
  });
});
