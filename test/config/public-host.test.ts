import { describe, expect, it } from "vitest";
import { isPublicHost } from "../../src/config/public-host.ts";

describe("a host", () => {
  it.each([
    ["pay.example.com", true],
    ["203.0.114.5", true],
    ["[2606:4700::1]", true],
    ["localhost", false],
    ["intranet", false],
    ["printer.local", false],
    ["a.internal", false],
    ["127.0.0.1", false],
    ["10.0.0.1", false],
    ["172.16.0.1", false],
    ["192.168.1.1", false],
    ["169.254.169.254", false],
    ["100.64.0.1", false],
    ["0.0.0.0", false],
    ["[::1]", false],
    ["[fe80::1]", false],
    ["[fd00::1]", false],
    ["[::ffff:127.0.0.1]", false],
  ])("the platform's reach of %s is recognised: %s", (host, reachable) => {
    expect(isPublicHost(host)).toBe(reachable);
  });
});
