import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { visitAddress } from "../../../src/sources/contract/visit.ts";

async function withServer<T>(serve: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(serve).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("the visit of an address that a platform names", () => {
  it("the visit of an address that a platform names is one GET, whose answer must be a success", () => {
    const seen: string[] = [];
    const serve: RequestListener = ({ method, url }, response) => {
      seen.push(`${method} ${url}`);
      response.end("confirmed");
    };
    return withServer(serve, async (url) => {
      await visitAddress(`${url}/confirm?token=1`);
      expect(seen).toEqual(["GET /confirm?token=1"]);
    });
  });

  it.each([302, 403, 500])("an answer with %i makes the platform ask again, and no redirect is followed", (status) => {
    const seen: string[] = [];
    const serve: RequestListener = ({ url = "" }, response) => {
      seen.push(url);
      response.writeHead(status, { location: "/elsewhere" }).end();
    };
    return withServer(serve, async (url) => {
      await expect(visitAddress(`${url}/confirm`)).rejects.toThrow(`answered a visit with ${status}`);
      expect(seen).toEqual(["/confirm"]);
    });
  });

  it("the visit of an address that a platform names ends at its time limit", () =>
    withServer(
      () => {},
      async (url) => {
        await expect(visitAddress(url, 50)).rejects.toThrow(/time/i);
      },
    ));

  it("an answer without end is not read to its end", () => {
    const serve: RequestListener = (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", more);
      more();
    };
    return withServer(serve, async (url) => {
      await expect(visitAddress(url)).resolves.toBeUndefined();
    });
  });
});
