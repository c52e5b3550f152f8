import { describe, expect, it } from "vitest";
import { createAllowList, normalAddress, rateKey } from "../../src/system/index.ts";

describe("remote addresses", () => {
  it.each([
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["2001:DB8::1", "2001:db8::1"],
    ["not an address", "not an address"],
  ])("every remote address has one name: %s is %s", (given, normal) => {
    expect(normalAddress(given)).toBe(normal);
  });

  it("remote addresses count an IPv4 host by itself, mapped or not, and an IPv6 one by its /64", () => {
    expect(rateKey(normalAddress("::ffff:192.0.2.1"))).toBe(rateKey("192.0.2.1"));
    expect(rateKey("192.0.2.1")).not.toBe(rateKey("192.0.2.2"));
    expect(rateKey("2001:db8:1:2::1")).toBe(rateKey("2001:db8:1:2:ffff::9"));
    expect(rateKey("2001:db8:1:2::1")).not.toBe(rateKey("2001:db8:1:3::1"));
  });

  it("remote addresses match networks and single addresses of both families", () => {
    const isAllowed = createAllowList(["192.0.2.0/24", "198.51.100.7", "2001:db8::/32", "2001:db7::1"]);
    for (const address of ["192.0.2.200", "198.51.100.7", "2001:db8::9", "2001:db7::1"])
      expect([address, isAllowed(address)]).toEqual([address, true]);
    for (const address of ["192.0.3.1", "198.51.100.8", "2001:db9::1", "2001:db7::2", "nonsense"])
      expect([address, isAllowed(address)]).toEqual([address, false]);
  });

  it.each([
    ["203.0.113.7:40001", "203.0.113.7"],
    ["[2001:db8::1]:40001", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
  ])("a remote address with a port is the host's: %s", (written, address) => {
    expect(normalAddress(written)).toBe(address);
  });

  it("every remote address is allowed without a list", () => {
    expect(createAllowList(null)("nonsense")).toBe(true);
  });
});
