import { describe, expect, it } from "vitest";
import type { ListedEvent, Reconciliation } from "../../../src/sources/index.ts";
import { github, paddle, square, stripe } from "../../../src/sources/platforms/index.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { githubApi, type PlatformApi, paddleApi, squareApi, stripeApi } from "../../support/platform-api.ts";

const WINDOW = { from: new Date("2026-10-01T00:00:00Z"), to: new Date("2026-10-02T00:00:00Z") };
const AT = "2026-10-01T12:00:00.000Z";
const BEFORE = "2026-09-30T12:00:00.000Z";
const SECONDS = Date.parse(AT) / 1_000;
const SECRET = "whsec_0123456789abcdef";
const KEY = "sk_live_0123456789";

const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const stripeEvents = (count: number) =>
  range(count).map((n) => ({
    id: `evt_${n}`,
    object: "event",
    type: "invoice.paid",
    created: SECONDS - n,
    data: {},
  }));

/** All that a platform lists, and how long it was waited for. */
async function listed(api: Reconciliation | undefined, cursor?: string) {
  const events: ListedEvent[] = [];
  const pauses: number[] = [];
  const cursors: (string | undefined)[] = [];
  const { signal } = new AbortController();
  const pause = async (ms: number) => void pauses.push(ms);
  for await (const page of api?.list(WINDOW, { cursor, signal, pause }) ?? []) {
    events.push(...page.events);
    cursors.push(page.next);
  }
  return { ids: events.map(({ id }) => id), events, pauses, cursors };
}

function withApi<T>(api: PlatformApi, use: (apiUrl: string) => Promise<T>): Promise<T> {
  return withHttpServer(api.answer, use);
}

const ofStripe = (apiUrl: string) => stripe({ secret: SECRET, reconcile: { apiKey: KEY, apiUrl } }).reconcile;

describe("the events that Stripe lists", () => {
  it("Stripe's events are read page after page with the key as a bearer token", () => {
    const api = stripeApi(stripeEvents(5), 2);
    return withApi(api, async (apiUrl) => {
      const { ids, cursors } = await listed(ofStripe(apiUrl));
      expect(ids).toEqual(["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"]);
      expect(cursors).toEqual(["evt_2", "evt_4", undefined]);
      expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(`Bearer ${KEY}`));
      expect(api.asked[0]?.url.pathname).toBe("/v1/events");
      expect(Object.fromEntries(api.asked[1]?.url.searchParams ?? [])).toEqual({
        "created[gte]": String(WINDOW.from.getTime() / 1_000),
        "created[lt]": String(WINDOW.to.getTime() / 1_000),
        limit: "100",
        starting_after: "evt_2",
      });
    });
  });

  it("Stripe's events are read from a cursor on", () =>
    withApi(stripeApi(stripeEvents(3), 2), async (apiUrl) => {
      expect((await listed(ofStripe(apiUrl), "evt_2")).ids).toEqual(["evt_3"]);
    }));

  it("a callback made of a listed event keeps the digits of its numbers", () => {
    const api = stripeApi([]);
    api.interfere = (_request, _count, response) => {
      response.end(
        `{"has_more":false,"data":[{"id":"evt_1","type":"a","created":${SECONDS},"n":12345678901234567890,"m":1.10}]}`,
      );
      return true;
    };
    return withApi(api, async (apiUrl) => {
      const { events } = await listed(ofStripe(apiUrl));
      const callback = await events[0]?.callback();
      expect(Buffer.from(callback?.body ?? "").toString()).toBe(
        `{"id":"evt_1","type":"a","created":${SECONDS},"n":12345678901234567890,"m":1.10}`,
      );
      expect(events[0]?.at).toBe(AT);
    });
  });

  it.each([
    ["is limited", 429, { "retry-after": "7" }, [7_000]],
    ["is limited and says no time", 429, {}, [1_000]],
    ["has a fault", 500, {}, [1_000]],
    ["is limited by 403", 403, { "retry-after": "0" }, [0]],
  ])("an API that %s is asked again after a pause", (_name, status, headers, pauses) => {
    const api = stripeApi(stripeEvents(1));
    api.interfere = (_request, count, response) => {
      if (count > 1) return false;
      response.writeHead(status, headers).end("{}");
      return true;
    };
    return withApi(api, async (apiUrl) => {
      expect(await listed(ofStripe(apiUrl))).toMatchObject({ ids: ["evt_1"], pauses });
    });
  });

  it("an API that stays unavailable is asked four times", () => {
    const api = stripeApi([]);
    api.interfere = (_request, _count, response) => {
      response.writeHead(503).end();
      return true;
    };
    return withApi(api, async (apiUrl) => {
      await expect(listed(ofStripe(apiUrl))).rejects.toThrow(/GET \/v1\/events of 127\.0\.0\.1:\d+ returned 503$/);
      expect(api.asked).toHaveLength(4);
    });
  });

  it("a pause of more than a minute is left to the next run", () => {
    const api = stripeApi([]);
    api.interfere = (_request, _count, response) => {
      response.writeHead(429, { "retry-after": "61" }).end();
      return true;
    };
    return withApi(api, async (apiUrl) => {
      await expect(listed(ofStripe(apiUrl))).rejects.toThrow(/429; retry after 61 s/);
      expect(api.asked).toHaveLength(1);
    });
  });

  it.each([
    ["JSON that ends too early", '{"has_more":true,"data":[{"id":"evt_'],
    ["no JSON", "<html>"],
  ])("an answer of %s is asked for again", (_name, body) => {
    const api = stripeApi(stripeEvents(1));
    api.interfere = (_request, count, response) => {
      if (count === 1) response.end(body);
      return count === 1;
    };
    return withApi(api, async (apiUrl) => {
      expect((await listed(ofStripe(apiUrl))).ids).toEqual(["evt_1"]);
      expect(api.asked).toHaveLength(2);
    });
  });

  it("a connection that breaks within the answer is tried again", () => {
    const api = stripeApi(stripeEvents(1));
    api.interfere = (_request, count, response) => {
      if (count > 1) return false;
      response.writeHead(200, { "content-length": "1000" });
      response.write("{", () => response.destroy());
      return true;
    };
    return withApi(api, async (apiUrl) => expect((await listed(ofStripe(apiUrl))).ids).toEqual(["evt_1"]));
  });

  it("a page without a list is an error, and not the end", () => {
    const api = stripeApi([]);
    api.interfere = (_request, _count, response) => {
      response.end('{"object":"list"}');
      return true;
    };
    return withApi(api, (apiUrl) => expect(listed(ofStripe(apiUrl))).rejects.toThrow("without an array `data`"));
  });

  it("a page that promises more after an event without an id is an error", () => {
    const api = stripeApi([]);
    api.interfere = (_request, _count, response) => {
      response.end('{"has_more":true,"data":[{}]}');
      return true;
    };
    return withApi(api, (apiUrl) => expect(listed(ofStripe(apiUrl))).rejects.toThrow("has no id"));
  });

  it("a redirect is not followed, whose target would get the key", () => {
    const other = stripeApi([]);
    return withApi(other, (otherUrl) => {
      const api = stripeApi([]);
      api.interfere = (_request, _count, response) => {
        response.writeHead(302, { location: `${otherUrl}/v1/events` }).end();
        return true;
      };
      return withApi(api, async (apiUrl) => {
        await expect(listed(ofStripe(apiUrl))).rejects.toThrow("a redirect, which is not followed");
        expect(other.asked).toEqual([]);
      });
    });
  });

  it("a refused key is reported with the option's name, and without the key", () => {
    const api = stripeApi([]);
    api.interfere = (_request, _count, response) => {
      response.writeHead(401).end(`{"error":{"message":"Invalid API Key provided: ${KEY}"}}`);
      return true;
    };
    return withApi(api, async (apiUrl) => {
      const error = await listed(ofStripe(apiUrl)).catch((thrown: Error) => thrown);
      expect(String(error)).toContain("`reconcile.apiKey` is not accepted");
      expect(String(error)).not.toContain(KEY);
      expect(api.asked).toHaveLength(1);
    });
  });
});

const delivery = (id: number, over: object = {}) => ({
  ...{ id, guid: `guid-${id}`, event: "push", delivered_at: AT, status: "failed to connect" },
  ...{ payload: { ref: `refs/${id}` }, ...over },
});

const ofGitHub = (apiUrl: string, over: object = {}) => {
  const reconcile = { apiKey: KEY, apiUrl, repository: "octo/cat", hook: 42, ...over };
  return github({ secret: SECRET, reconcile }).reconcile;
};

describe("the deliveries that GitHub lists", () => {
  it("GitHub's deliveries are read by the cursor of `Link`, and never at its address", () => {
    const api = githubApi([delivery(1), delivery(2), delivery(3)], 2);
    return withApi(api, async (apiUrl) => {
      expect((await listed(ofGitHub(apiUrl))).ids).toEqual(["guid-1", "guid-2", "guid-3"]);
      expect(api.asked.map(({ url }) => url.pathname)).toEqual(Array(2).fill("/repos/octo/cat/hooks/42/deliveries"));
    });
  });

  it("GitHub's failed deliveries are listed, each event once, unless all are wanted", () =>
    withApi(
      githubApi([delivery(1, { status: "OK" }), delivery(2), delivery(3, { guid: "guid-2" })]),
      async (apiUrl) => {
        expect((await listed(ofGitHub(apiUrl))).ids).toEqual(["guid-2"]);
        expect((await listed(ofGitHub(apiUrl, { deliveries: "all" }))).ids).toEqual(["guid-1", "guid-2"]);
      },
    ));

  it("GitHub's list ends where a whole page is older than the window", () => {
    const old = [2, 3, 4].map((id) => delivery(id, { delivered_at: BEFORE }));
    const api = githubApi([delivery(1), ...old], 1);
    return withApi(api, async (apiUrl) => {
      expect((await listed(ofGitHub(apiUrl))).ids).toEqual(["guid-1"]);
      expect(api.asked).toHaveLength(2);
    });
  });

  it("a callback made of a delivery has its headers and its payload", () =>
    withApi(githubApi([delivery(9007199254740991, { signature: "sha256=aa" })]), async (apiUrl) => {
      const { events } = await listed(ofGitHub(apiUrl));
      const callback = await events[0]?.callback();
      expect(callback?.headers).toMatchObject({
        "x-github-delivery": ["guid-9007199254740991"],
        "x-github-event": ["push"],
        "x-hub-signature-256": ["sha256=aa"],
      });
      expect(String(callback?.body)).toBe('{"ref":"refs/9007199254740991"}');
    }));

  it("the deliveries of an organization's webhook are listed", () => {
    const api = githubApi([delivery(1)]);
    return withApi(api, async (apiUrl) => {
      await listed(ofGitHub(apiUrl, { repository: undefined, organization: "octo" }));
      expect(api.asked[0]?.url.pathname).toBe("/orgs/octo/hooks/42/deliveries");
    });
  });
});

describe("the events that Square lists", () => {
  const events = range(3).map((n) => ({
    event_id: `e${n}`,
    type: "payment.created",
    created_at: AT,
    data: {},
  }));
  const ofSquare = (apiUrl: string) => square({ secret: SECRET, reconcile: { apiKey: KEY, apiUrl } }).reconcile;

  it("Square's search has the same query on each page", () => {
    const api = squareApi(events, 2);
    return withApi(api, async (apiUrl) => {
      expect((await listed(ofSquare(apiUrl))).ids).toEqual(["e1", "e2", "e3"]);
      const created_at = { start_at: "2026-10-01T00:00:00.000Z", end_at: "2026-10-02T00:00:00.000Z" };
      const query = { filter: { created_at } };
      expect(api.asked.map(({ method, url, body }) => [method, url.pathname, JSON.parse(body)])).toEqual([
        ["POST", "/v2/events", { query, limit: 100 }],
        ["POST", "/v2/events", { query, limit: 100, cursor: "2" }],
      ]);
    });
  });

  it("a search of Square without events lists none", () =>
    withApi(squareApi([]), async (apiUrl) => expect((await listed(ofSquare(apiUrl))).ids).toEqual([])));

  it("a failed search of Square is an error", () => {
    const api = squareApi([]);
    api.interfere = (_request, _count, response) => {
      response.end('{"errors":[{"code":"BAD_REQUEST"}]}');
      return true;
    };
    return withApi(api, (apiUrl) => expect(listed(ofSquare(apiUrl))).rejects.toThrow("without an array `events`"));
  });
});

describe("the events that Paddle lists", () => {
  const paddleEvent = (n: number, occurred_at = AT) => ({
    ...{ event_id: `evt_${n}`, event_type: "transaction.completed", occurred_at, data: { id: n } },
  });

  it("Paddle's events are read from the newest on until a whole page is older than the window", () => {
    const times = [BEFORE, BEFORE, BEFORE, AT, AT, "2026-10-03T00:00:00Z"];
    const api = paddleApi(
      times.map((time, index) => paddleEvent(index + 1, time)),
      2,
    );
    return withApi(api, async (apiUrl) => {
      const source = paddle({ secret: SECRET, reconcile: { apiKey: KEY, apiUrl } });
      expect((await listed(source.reconcile)).ids).toEqual(["evt_5", "evt_4"]);
      expect(api.asked.map(({ url }) => url.searchParams.get("after"))).toEqual([null, "evt_5", "evt_3"]);
      expect(api.asked[0]?.url.searchParams.get("order_by")).toBe("id[DESC]");
    });
  });
});

describe("the options of `reconcile`", () => {
  it.each([
    ["apiKey", "got none", { apiKey: undefined }],
    ["apiKey", "got a text with white space or other than ASCII", { apiKey: "a key" }],
    ["every", 'got "30s"', { every: "30s" }],
    ["every", 'got "0m"', { every: "0m" }],
    ["apiUrl", "got an address of http:", { apiUrl: "http://api.example.com" }],
    ["apiUrl", "got an address with a user, query or fragment", { apiUrl: "https://user@api.example.com" }],
  ])("the option %s that cannot be used is named, with what it is: %s", (name, got, over) => {
    const reconcile = { apiKey: KEY, ...over } as { apiKey: string };
    const message = `stripe: \`reconcile.${name}\`: ${got}, expected`;
    expect(() => stripe({ secret: SECRET, reconcile })).toThrow(message);
  });

  it.each([
    [
      { repository: undefined },
      "github: `reconcile`: got neither `repository` nor `organization`, expected one of them",
    ],
    [{ organization: "octo" }, "github: `reconcile`: got both `repository` and `organization`, expected one of them"],
    [{ repository: "../user" }, 'github: `reconcile.repository`: got "../user", expected "owner/name"'],
    [{ repository: "octo" }, 'github: `reconcile.repository`: got "octo", expected "owner/name"'],
    [{ repository: undefined, organization: ".." }, 'github: `reconcile.organization`: got "..", expected its name'],
    [{ hook: -1 }, "github: `reconcile.hook`: got -1, expected the webhook's number"],
    [{ deliveries: "some" }, 'github: `reconcile.deliveries`: got "some", expected "failed" or "all"'],
  ])("GitHub's options %j, which name no webhook, are refused with a reason", (over, message) => {
    expect(() => ofGitHub("https://api.github.com", over)).toThrow(message);
  });

  it("the API key is a secret of its source", () => {
    const source = stripe({ secret: SECRET, reconcile: { apiKey: KEY, every: "1h" } });
    expect(source.secrets).toEqual([SECRET, KEY]);
    expect(source.reconcile).toMatchObject({
      everyMs: 3_600_000,
      address: "https://api.stripe.com/v1/events",
    });
  });

  it("a source without `reconcile` is not reconciled", () => {
    expect(stripe({ secret: SECRET }).reconcile).toBeUndefined();
  });
});
