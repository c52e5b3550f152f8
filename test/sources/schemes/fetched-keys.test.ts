import type { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeldBody } from "../../../src/sources/index.ts";
import { certificateKeys } from "../../../src/sources/schemes/certificate-keys.ts";
import { FetchedKeys } from "../../../src/sources/schemes/fetched-keys.ts";
import { isPinned, requestKeys } from "../../../src/sources/schemes/key-request.ts";
import { type Issued, issueCertificate } from "../../support/certificate-chain.ts";
import { withHttpServer, withHttpsServer } from "../../support/http-server.ts";
import { until } from "../../support/until.ts";

const FAILURE = 5_000;
const FRESH = 600_000;
const HOUR = 3_600_000;
const WINDOW = 10_000;

/** A server that hands out keys by their ids, and a clock that the test moves. */
interface Server {
  readonly keys: Map<string, string>;
  state: "up" | "down" | "hanging";
  readonly asked: string[];
  clock: number;
  get(id: string, body?: HeldBody): Promise<{ readonly text: string } | undefined>;
}

function withServer(use: (server: Server) => Promise<void>): Promise<void> {
  const server = {
    keys: new Map<string, string>(),
    state: "up" as Server["state"],
    asked: [] as string[],
    clock: 0,
  };
  return withHttpServer(
    (request, response) => {
      const id = decodeURIComponent((request.url ?? "/").slice(1));
      server.asked.push(id);
      if (server.state === "hanging") return;
      const key = server.keys.get(id);
      response.statusCode = server.state === "down" ? 503 : key === undefined ? 404 : 200;
      response.end(key);
    },
    (origin) => {
      const fetched = new FetchedKeys(
        async (id) => {
          const text = await requestKeys(`${origin}/${encodeURIComponent(id)}`, { absent: [404] });
          return text === undefined ? undefined : { text };
        },
        { name: "A platform", now: () => server.clock },
      );
      return use(Object.assign(server, { get: (id: string, body?: HeldBody) => fetched.get(id, body) }));
    },
  );
}

const from = (address: string): HeldBody => ({ address, mayWait: () => true });

describe("keys that are fetched by their ids", () => {
  it("a key is fetched once for all that ask at the same time, and serves from then on", () =>
    withServer(async (server) => {
      server.keys.set("a", "key of a");
      const all = await Promise.all(Array.from({ length: 20 }, () => server.get("a")));
      expect(all).toEqual(Array(20).fill({ text: "key of a" }));
      await server.get("a");
      expect(server.asked).toEqual(["a"]);
    }));

  it("a key that the platform does not have is not asked for again, for a minute", () =>
    withServer(async (server) => {
      for (let index = 0; index < 5; index += 1) expect(await server.get("a")).toBeUndefined();
      expect(server.asked).toEqual(["a"]);
      server.keys.set("a", "published later");
      server.clock += 60_000;
      expect(await server.get("a")).toEqual({ text: "published later" });
    }));

  it("forged ids cause a bounded number of requests, and known keys serve all the while", () =>
    withServer(async (server) => {
      server.keys.set("known", "known");
      await server.get("known");
      const verdicts = await Promise.allSettled(
        Array.from({ length: 500 }, (_, index) => server.get(`forged ${index}`, from(`192.0.2.${index % 250}`))),
      );
      const refused = verdicts.filter(({ status }) => status === "rejected");
      expect(server.asked).toHaveLength(10);
      expect(refused[0]).toMatchObject({
        reason: { name: "KeysUnavailable", message: /more than 10 unknown keys/ },
      });
      expect(await server.get("known")).toEqual({ text: "known" });
      server.clock += WINDOW;
      server.keys.set("new", "new");
      expect(await server.get("new")).toEqual({ text: "new" });
    }));

  it("forged ids of one address leave three quarters of the requests to others", () =>
    withServer(async (server) => {
      for (const stranger of [from("192.0.2.1"), undefined]) {
        const forged = Array.from({ length: 50 }, (_, index) => server.get(`forged ${index}`, stranger));
        const refused = (await Promise.allSettled(forged)).find(({ status }) => status === "rejected");
        expect(refused).toMatchObject({
          reason: { name: "KeysUnavailable", message: /more than 3 unknown keys .* from one address/ },
        });
      }
      expect(server.asked.length).toBeLessThanOrEqual(6);
      server.keys.set("new", "new");
      expect(await server.get("new", from("192.0.2.2"))).toEqual({ text: "new" });
      server.clock += WINDOW;
      server.keys.set("newer", "newer");
      expect(await server.get("newer", from("192.0.2.1"))).toEqual({ text: "newer" });
    }));

  it("forged ids of a server that fails cause a bounded number of requests too", () =>
    withServer(async (server) => {
      server.state = "down";
      for (let round = 0; round < 4; round += 1) {
        await Promise.allSettled(Array.from({ length: 40 }, (_, index) => server.get(`forged ${index}`)));
        server.clock += FAILURE;
      }
      expect(server.asked.length).toBeLessThanOrEqual(20);
    }));

  it("no number of forged ids pushes a known key out", () =>
    withServer(async (server) => {
      server.keys.set("known", "known");
      await server.get("known");
      for (let index = 0; index < 300; index += 1) {
        await server.get(`forged ${index}`, from(`192.0.2.${index % 250}`));
        server.clock += 1_250;
      }
      const before = server.asked.length;
      await server.get("known");
      expect(server.asked).toHaveLength(before);
    }));

  it("known keys are bounded in number; the one that was not used for longest makes room", () =>
    withServer(async (server) => {
      for (let index = 0; index < 65; index += 1) {
        server.keys.set(`k${index}`, "key");
        await server.get("k0").catch(() => {});
        await server.get(`k${index}`, from(`192.0.2.${index}`));
        server.clock += 1_250;
      }
      const before = server.asked.length;
      await server.get("k0");
      expect(server.asked).toHaveLength(before);
      await server.get("k1");
      expect(server.asked).toHaveLength(before + 1);
    }));

  it("a known key outlives an outage of its server by a day, and no longer", () =>
    withServer(async (server) => {
      server.keys.set("a", "key");
      await server.get("a");
      server.state = "down";
      for (const time of [FRESH, HOUR, 24 * HOUR - 1]) {
        server.clock = time;
        expect(await server.get("a")).toEqual({ text: "key" });
      }
      server.clock = 24 * HOUR;
      await expect(server.get("a")).rejects.toThrow("the keys of A platform cannot be fetched");
      server.state = "up";
      server.clock += FAILURE;
      expect(await server.get("a")).toEqual({ text: "key" });
    }));

  it("a failure is remembered, and asked for again after five seconds", () =>
    withServer(async (server) => {
      server.state = "down";
      for (let index = 0; index < 5; index += 1) await expect(server.get("a")).rejects.toThrow("answers 503");
      expect(server.asked).toHaveLength(1);
      server.clock += FAILURE;
      server.state = "up";
      server.keys.set("a", "key");
      expect(await server.get("a")).toEqual({ text: "key" });
    }));

  it("a key that the platform withdrew serves no longer than an hour", () =>
    withServer(async (server) => {
      server.keys.set("a", "key");
      await server.get("a");
      server.keys.delete("a");
      server.clock += HOUR;
      expect(await server.get("a")).toBeUndefined();
    }));

  it("an old key serves at once while its server hangs", () =>
    withServer(async (server) => {
      server.keys.set("a", "key");
      await server.get("a");
      server.state = "hanging";
      server.clock += FRESH;
      expect(await server.get("a")).toEqual({ text: "key" });
      await until(() => server.asked.length === 2);
    }));

  it("a body that may not wait is not held for a request, and causes none", () =>
    withServer(async (server) => {
      const body = { mayWait: () => false };
      await expect(server.get("a", body)).rejects.toThrow("hold half of MAX_UNVERIFIED_BYTES");
      server.keys.set("a", "key");
      await server.get("a");
      expect(await server.get("a", body)).toEqual({ text: "key" });
      expect(server.asked).toHaveLength(1);
    }));

  it("a redirect is not followed, and an answer without end is not read", () =>
    withHttpServer(
      (request, response) => {
        if (request.url === "/redirect") return response.writeHead(302, { location: "/elsewhere" }).end();
        response.end(request.url === "/elsewhere" ? "secret" : "x".repeat(2_000_000));
      },
      async (origin) => {
        await expect(requestKeys(`${origin}/redirect`)).rejects.toThrow("answers 302");
        await expect(requestKeys(`${origin}/long`)).rejects.toThrow("more than 1048576 bytes");
      },
    ));
});

const PIN = { host: /^sns\.[a-z0-9-]{3,30}\.amazonaws\.com$/, path: /^\/Service-[0-9a-f]{4}\.pem$/ };
const PINNED = "https://sns.us-east-1.amazonaws.com/Service-00ff.pem";

describe("the pin of an address", () => {
  it("an address of the pinned host and path is allowed", () => {
    expect(isPinned(PINNED, PIN)).toBe(true);
  });

  it.each([
    "http://sns.us-east-1.amazonaws.com/Service-00ff.pem",
    "HTTPS://sns.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://SNS.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com:443/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com:8443/Service-00ff.pem",
    "https://user@sns.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com@evil.example/Service-00ff.pem",
    "https://evil.example/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com.evil.example/Service-00ff.pem",
    "https://evil.example\\@sns.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://evilsns.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com/Service-00ff.pem?Action=Publish",
    "https://sns.us-east-1.amazonaws.com/Service-00ff.pem?",
    "https://sns.us-east-1.amazonaws.com/Service-00ff.pem#",
    "https://sns.us-east-1.amazonaws.com/x/../Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com/%2e%2e/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com//Service-00ff.pem",
    " https://sns.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com/Service-00ff.pem\n",
    "https://sns.us-east-1.amazon\taws.com/Service-00ff.pem",
    "https:/sns.us-east-1.amazonaws.com/Service-00ff.pem",
    "https://sns.us-east-1.amazonaws.com./Service-00ff.pem",
    "https://sns.us-east-1。amazonaws.com/Service-00ff.pem",
    "https://169.254.169.254/Service-00ff.pem",
    "https://[::1]/Service-00ff.pem",
    "https://2130706433/Service-00ff.pem",
    "file:///etc/passwd",
    "",
    "//sns.us-east-1.amazonaws.com/Service-00ff.pem",
    `https://sns.us-east-1.amazonaws.com/${"a".repeat(600)}/Service-00ff.pem`,
  ])("the address %j is not asked", (url) => {
    expect(isPinned(url, PIN)).toBe(false);
  });

  it("an address that differs in any character from one that is allowed either fits the pin too or is not asked", {
    tags: "full",
  }, () => {
    const place = fc.integer({ min: 0, max: PINNED.length });
    fc.assert(
      fc.property(place, fc.string({ maxLength: 3, unit: "binary" }), fc.nat(3), (at, inserted, removed) => {
        const url = PINNED.slice(0, at) + inserted + PINNED.slice(at + removed);
        const shape = /^https:\/\/sns\.[a-z0-9-]{3,30}\.amazonaws\.com\/Service-[0-9a-f]{4}\.pem$/;
        expect(isPinned(url, PIN)).toBe(shape.test(url));
      }),
      { numRuns: 500 },
    );
  });
});

const NOW = new Date("2026-03-04T12:00:00Z");

interface CertificateServer {
  readonly origin: string;
  readonly asked: string[];
  keyAt(path: string, over?: object): Promise<unknown>;
}

function withCertificates(files: Record<string, string>, use: (server: CertificateServer) => Promise<void>) {
  const asked: string[] = [];
  return withHttpsServer(
    (request, response) => {
      asked.push(request.url ?? "");
      const file = files[request.url ?? ""];
      response.writeHead(file === undefined ? 404 : 200).end(file);
    },
    (origin) => {
      const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/[a-z0-9-]+\.pem$/ };
      const keyAt = (path: string, over: object = {}) =>
        certificateKeys({ name: "A platform", pin, clock: { now: () => NOW }, ...over }).keyAt(`${origin}${path}`);
      return use({ origin, asked, keyAt });
    },
  );
}

describe("a certificate by its address", () => {
  const leafOf = (over: object = {}): Promise<Issued> =>
    issueCertificate({ subject: "sns.amazonaws.com", dnsNames: ["sns.amazonaws.com"], ...over });

  it("a certificate by its address gives its key, and is fetched over TLS that is checked", async () => {
    const leaf = await leafOf();
    await withCertificates({ "/a.pem": leaf.pem }, async ({ keyAt, asked }) => {
      const hosts = () => ["sns.amazonaws.com"];
      expect(await keyAt("/a.pem", { hosts })).toMatchObject({ type: "public", asymmetricKeyType: "rsa" });
      expect(asked).toEqual(["/a.pem"]);
    });
    await withHttpsServer(
      (_request, response) => response.end(leaf.pem),
      async (origin) => {
        const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/a\.pem$/ };
        const keys = certificateKeys({ name: "A platform", pin, clock: { now: () => NOW } });
        await expect(keys.keyAt(`${origin}/a.pem`)).rejects.toThrow("the keys of A platform cannot be fetched");
      },
      { isBelieved: false },
    );
  });

  it("a certificate that cannot have signed is refused in words for the operator", async () => {
    const past = new Date("2025-01-01T00:00:00Z");
    const files = {
      "/other.pem": (await leafOf({ dnsNames: ["evil.example"] })).pem,
      "/expired.pem": (await leafOf({ notAfter: past })).pem,
      "/short.pem": (await leafOf({ bits: 1_024 })).pem,
      "/ec.pem": (await leafOf({ type: "ec" })).pem,
    };
    const hosts = () => ["sns.amazonaws.com"];
    await withCertificates(files, async ({ keyAt }) => {
      expect(await keyAt("/other.pem", { hosts })).toBe(
        "its certificate is for another host, expected sns.amazonaws.com",
      );
      expect(await keyAt("/expired.pem", { hosts })).toBe("its certificate expired at 2025-01-01T00:00:00.000Z");
      expect(await keyAt("/short.pem", { hosts })).toMatch("holds the key rsa 1024 bits, expected an RSA key");
      expect(await keyAt("/ec.pem", { hosts })).toMatch("holds the key ec prime256v1, expected an RSA key");
      expect(await keyAt("/absent.pem", { hosts })).toBe("there is no certificate at its address");
    });
  });

  it("a certificate at an address beside the pin is never asked for", () =>
    withCertificates({}, async ({ keyAt, asked }) => {
      for (const path of ["/a.txt", "/x/a.pem", "/a.pem?b", "/../a.pem"])
        expect(await keyAt(path)).toBe("its address is not one of the platform's");
      expect(asked).toEqual([]);
    }));

  it("a chain beside the certificate is followed to a configured root", async () => {
    const root = await issueCertificate({ subject: "root", isAuthority: true });
    const leaf = await leafOf({ issuer: root });
    const stranger = await leafOf();
    const { X509Certificate: Read } = await import("node:crypto");
    const roots: X509Certificate[] = [new Read(root.pem)];
    await withCertificates({ "/a.pem": leaf.pem + root.pem, "/b.pem": stranger.pem }, async ({ keyAt }) => {
      expect(await keyAt("/a.pem", { trust: { roots } })).toMatchObject({ type: "public" });
      expect(await keyAt("/b.pem", { trust: { roots } })).toBe(
        "its chain: certificate 1 is not issued by a trusted root",
      );
    });
  });

  it("a file that is no certificate is a failure of the platform, not of the caller", () =>
    withCertificates({ "/a.pem": "<html>" }, async ({ keyAt }) => {
      await expect(keyAt("/a.pem")).rejects.toMatchObject({ name: "KeysUnavailable" });
    }));
});
