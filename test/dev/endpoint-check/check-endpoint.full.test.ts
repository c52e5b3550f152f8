import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallbackLogReader, checkEndpoint, type EndpointCheck } from "../../../src/dev/endpoint-check/index.ts";
import { withStore } from "../../support/databases.ts";
import { freePort } from "../../support/free-port.ts";
import { withHttpServer, withHttpsServer } from "../../support/http-server.ts";
import { logRow } from "../../support/log-row.ts";

/** With the callback log of a database to which nobody has called. */
function reach(address: string): Promise<EndpointCheck> {
  return withStore("sqlite", (store) => {
    const log: CallbackLogReader = { flush: async () => {}, rows: store.callbacks };
    return checkEndpoint(address, log, { issueProof: () => ({}), sendsForm: true });
  });
}

const PATH = "/api/platform/callback";
const MORE_THAN_TWO_PAGES = 230;
const DAY_MS = 86_400_000;
const notReached = (says: RegExp, status: number | null = null) => ({
  reached: false,
  message: expect.stringMatching(says),
  status,
});

it("the check finds its own row below those of a busy log", () =>
  withStore("sqlite", async (store) => {
    await withHttpServer(
      (request, response) => {
        const headers = JSON.stringify({ "user-agent": request.headers["user-agent"] });
        const ours = logRow({ requestHeaders: headers, outcome: "signature_missing", responseStatus: 401 });
        const others = Array.from({ length: MORE_THAN_TWO_PAGES }, () => logRow());
        void store.appendCallbacks([ours, ...others]).then(() => response.writeHead(401).end());
      },
      async (origin) => {
        const log: CallbackLogReader = { flush: async () => {}, rows: store.callbacks };
        expect(await checkEndpoint(origin + PATH, log, { issueProof: () => ({}), sendsForm: true })).toMatchObject({
          reached: true,
          status: 401,
        });
      },
    );
  }));

it("the check warns of a framework that refuses forms before the receiver, as SvelteKit and Astro do", () =>
  withStore("sqlite", async (store) => {
    await withHttpServer(
      (request, response) => {
        if (request.headers["content-type"] !== "application/json")
          return response.writeHead(403).end("Cross-site POST form submissions are forbidden");
        const headers = JSON.stringify({ "user-agent": request.headers["user-agent"] });
        const row = logRow({ requestHeaders: headers, outcome: "signature_missing", responseStatus: 401 });
        return void store.appendCallbacks([row]).then(() => response.writeHead(401).end());
      },
      async (origin) => {
        const log: CallbackLogReader = { flush: async () => {}, rows: store.callbacks };
        const found = await checkEndpoint(origin + PATH, log, { issueProof: () => ({}), sendsForm: true });
        expect(found).toMatchObject({ reached: true, warning: expect.stringContaining("csrf.trustedOrigins") });
      },
    );
  }));

// Each waits for seconds, and uses nothing of the others.
describe.concurrent("the check of a registered address that leads nowhere", () => {
  it("the check reports that the name does not resolve, and returns the address", async ({ expect }) => {
    const found = await reach(`https://nobody.invalid${PATH}`);
    expect(found).toMatchObject({ url: `https://nobody.invalid${PATH}`, warning: null });
    // Without any DNS server nobody can say more than that none answers.
    expect(found).toMatchObject(notReached(/^The name nobody\.invalid (?:does not resolve|could not be looked up): /));
  });

  it("the check reports that nothing listens, and names the port", async ({ expect }) => {
    const port = await freePort();
    expect(await reach(`http://127.0.0.1:${port}${PATH}`)).toMatchObject(
      notReached(new RegExp(`^127\\.0\\.0\\.1:${port} refuses connections: nothing listens there`)),
    );
  });

  it("the check gives up after five seconds, and reports it", async ({ expect }) => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const found = await reach(`http://127.0.0.1:${port}${PATH}`);
    silent.close();
    expect(found).toMatchObject(notReached(/ did not answer within 5 s\. Does a firewall/));
    expect(found.duration_ms).toBeGreaterThan(4_900);
  });

  it("the check reports a connection that was closed without a response", async ({ expect }) => {
    const rude = createServer((socket) => socket.once("data", () => socket.destroy()));
    await new Promise<void>((resolve) => rude.listen(0, "127.0.0.1", resolve));
    const { port } = rude.address() as { port: number };
    const found = await reach(`http://127.0.0.1:${port}${PATH}`);
    rude.close();
    expect(found).toMatchObject(notReached(/ ended the connection without an answer \(\w+\)\.$/));
  });
});

describe("the check of a registered address with a certificate that no platform believes", () => {
  const unreached = (options: Parameters<typeof withHttpsServer>[2]) => {
    const asked: string[] = [];
    return withHttpsServer(
      (request, response) => {
        asked.push(request.url ?? "");
        response.end();
      },
      async (origin) => {
        const found = await reach(origin + PATH);
        // Nothing is said to a server whose certificate is not believed.
        expect(asked).toEqual([]);
        return found;
      },
      options,
    );
  };

  it("the check reports a self-signed certificate", async () =>
    expect(await unreached({ isBelieved: false })).toMatchObject(
      notReached(/^The certificate of 127\.0\.0\.1:\d+ is self-signed/),
    ));

  it("the check reports an expired certificate", async () => {
    const dates = {
      notBeforeDate: new Date(Date.now() - 20 * DAY_MS),
      notAfterDate: new Date(Date.now() - 10 * DAY_MS),
    };
    expect(await unreached(dates)).toMatchObject(notReached(/^The certificate of \S+ has expired: renew it/));
  });

  it("the check reports a certificate that is not valid yet", async () => {
    const dates = {
      notBeforeDate: new Date(Date.now() + DAY_MS),
      notAfterDate: new Date(Date.now() + 2 * DAY_MS),
    };
    expect(await unreached(dates)).toMatchObject(notReached(/^The certificate of \S+ is not valid yet/));
  });

  it("the check names the host of the certificate", async () => {
    const altNames = [{ type: 2, value: "elsewhere.example.com" }] as const;
    expect(await unreached({ altNames })).toMatchObject(
      notReached(/^The certificate of \S+ is not for 127\.0\.0\.1, but for DNS:elsewhere\.example\.com/),
    );
  });

  it("the check reports a port without TLS", () =>
    withHttpServer(
      (_request, response) => response.end(),
      async (origin) => {
        const found = await reach(origin.replace("http:", "https:") + PATH);
        expect(found).toMatchObject(notReached(/ does not speak TLS .*Does it serve plain HTTP on this port\?$/));
      },
    ));

  describe("where the environment switches the check off", () => {
    const NAME = "NODE_TLS_REJECT_UNAUTHORIZED";
    const before = process.env[NAME];
    beforeAll(() => {
      process.env[NAME] = "0";
    });
    afterAll(() => {
      if (before === undefined) delete process.env[NAME];
      else process.env[NAME] = before;
    });

    it("the check of the address itself is done all the same", async () =>
      expect(await unreached({ isBelieved: false })).toMatchObject(notReached(/is self-signed/)));
  });
});

describe.concurrent("the check of a registered address where another server answers", () => {
  it("the check does not follow a redirect, and reports its target without the query", ({ expect }) => {
    const asked: string[] = [];
    return withHttpServer(
      (request, response) => {
        asked.push(`${request.method} ${request.url}`);
        response.writeHead(301, { location: "https://www.example.com/login?token=t", server: "nginx" }).end();
      },
      async (origin) => {
        const says =
          /^The answer is 301, a redirect to https:\/\/www\.example\.com\/login, by a server that calls itself "nginx"\. Platforms do not/;
        expect(await reach(origin + PATH)).toMatchObject(notReached(says, 301));
        expect(asked).toEqual([`POST ${PATH}`]);
      },
    );
  });

  it.for([502, 503, 504])("the check reports that a proxy does not reach the receiver: %d", (status, { expect }) =>
    withHttpServer(
      (_request, response) => response.writeHead(status, { server: "nginx/1.22.1" }).end("<html>"),
      async (origin) => {
        const says = new RegExp(`^A proxy answered ${status}, a server that calls itself "nginx/1.22.1"`);
        expect(await reach(origin + PATH)).toMatchObject(notReached(says, status));
      },
    ),
  );

  it("the check reports the name and the response of another server", ({ expect }) =>
    withHttpServer(
      (_request, response) => response.writeHead(404, { server: "Apache" }).end("no such page"),
      async (origin) => {
        const found = await reach(origin + PATH);
        expect(found).toMatchObject(
          notReached(/^Another server answered, a server that calls itself "Apache": 404/, 404),
        );
        expect(found.warning).toMatch(/^It was found at 127\.0\.0\.1, .*a platform outside cannot reach it\./);
      },
    ));

  it("the check reads only the beginning of an endless response", ({ expect }) =>
    withHttpServer(
      (request, response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, "x")));
        };
        request.resume();
        response.writeHead(200).on("drain", more);
        more();
      },
      async (origin) => {
        const found = await reach(origin + PATH);
        expect(found).toMatchObject(notReached(/^Another server answered/, 200));
      },
    ));

  it("the check distinguishes a limit on the way from the receiver's own", ({ expect }) =>
    withHttpServer(
      (_request, response) => response.writeHead(429, { "retry-after": "7" }).end(),
      async (origin) => {
        const says = /answered 429 before the request came to the receiver: a limit on the way\. Try again in 7 s\.$/;
        expect(await reach(origin + PATH)).toMatchObject(notReached(says, 429));
      },
    ));
});
