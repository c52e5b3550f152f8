import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** A request that reached the API. */
export interface AskedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An answer in the place of the documented one; undefined: the documented one. */
export type Interfere = (request: AskedRequest, count: number, response: ServerResponse) => boolean;

export interface PlatformApi {
  readonly asked: AskedRequest[];
  readonly answer: RequestListener;
  /** Set by a test: answers, and says so, or leaves the request to the API. */
  interfere: Interfere | undefined;
}

type Page = (request: AskedRequest) => { readonly json: unknown; readonly link?: string };

function platformApi(page: Page): PlatformApi {
  const api: PlatformApi = {
    asked: [],
    interfere: undefined,
    answer: async (message, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of message) chunks.push(chunk as Uint8Array);
      const request = {
        method: message.method ?? "",
        url: new URL(message.url ?? "", "http://api"),
        headers: message.headers,
        body: Buffer.concat(chunks).toString(),
      };
      api.asked.push(request);
      if (api.interfere?.(request, api.asked.length, response) === true) return;
      const { json, link } = page(request);
      response.writeHead(json === undefined ? 404 : 200, {
        "content-type": "application/json",
        ...(link !== undefined && { link }),
      });
      response.end(typeof json === "string" ? json : JSON.stringify(json ?? { message: "Not Found" }));
    },
  };
  return api;
}

export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly [name: string]: unknown;
}

/** `GET /v1/events`, newest first, with `has_more` and `starting_after`. */
export function stripeApi(events: readonly StripeEvent[], pageSize = 100): PlatformApi {
  return platformApi(({ url: { searchParams } }) => {
    const [from, to] = [searchParams.get("created[gte]"), searchParams.get("created[lt]")];
    const listed = events
      .filter(({ created }) => created >= Number(from) && created < Number(to))
      .toSorted((one, other) => other.created - one.created);
    const after = searchParams.get("starting_after");
    const start = after === null ? 0 : listed.findIndex(({ id }) => id === after) + 1;
    const data = listed.slice(start, start + pageSize);
    return {
      json: { object: "list", url: "/v1/events", has_more: start + data.length < listed.length, data },
    };
  });
}

export interface GitHubDelivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly delivered_at: string;
  readonly status: string;
  readonly payload: object;
  readonly signature?: string;
}

/** The deliveries of a webhook, newest first, with the cursor in `Link`; and each by its id. */
export function githubApi(deliveries: readonly GitHubDelivery[], pageSize = 100): PlatformApi {
  return platformApi(({ url }) => {
    const one = /\/deliveries\/(\d+)$/.exec(url.pathname)?.[1];
    if (one !== undefined) {
      const found = deliveries.find(({ id }) => String(id) === one);
      return { json: found && detailOf(found) };
    }
    const start = Number(url.searchParams.get("cursor")?.slice("v1_".length) ?? 0);
    const page = deliveries.slice(start, start + pageSize);
    const next = start + page.length;
    const link = `<https://api.github.com${url.pathname}?per_page=100&cursor=v1_${next}>; rel="next"`;
    const json = page.map(({ payload: _, signature: __, ...item }) => ({
      ...item,
      redelivery: false,
      action: null,
    }));
    return { json, ...(next < deliveries.length && { link }) };
  });
}

function detailOf({ payload, signature, ...item }: GitHubDelivery) {
  const headers = {
    "X-GitHub-Delivery": item.guid,
    "X-GitHub-Event": item.event,
    "X-GitHub-Hook-ID": "42",
    ...(signature !== undefined && { "X-Hub-Signature-256": signature }),
  };
  return { ...item, request: { headers, payload }, response: { headers: {}, payload: "" } };
}

export interface SquareEvent {
  readonly event_id: string;
  readonly type: string;
  readonly created_at: string;
  readonly data: object;
}

/** `POST /v2/events` with `cursor`. */
export function squareApi(events: readonly SquareEvent[], pageSize = 100): PlatformApi {
  return platformApi(({ body }) => {
    const { query, cursor } = JSON.parse(body);
    const { start_at, end_at } = query.filter.created_at;
    const listed = events.filter(({ created_at }) => created_at >= start_at && created_at < end_at);
    const start = Number(cursor ?? 0);
    const page = listed.slice(start, start + pageSize);
    const next = start + page.length;
    if (listed.length === 0) return { json: {} };
    return { json: { events: page, ...(next < listed.length && { cursor: String(next) }) } };
  });
}

export interface PaddleEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  readonly data: object;
}

/** `GET /events`, by id, newest first, with `meta.pagination`. */
export function paddleApi(events: readonly PaddleEvent[], pageSize = 200): PlatformApi {
  return platformApi(({ url: { searchParams } }) => {
    const listed = events.toSorted((one, other) => other.event_id.localeCompare(one.event_id));
    const after = searchParams.get("after");
    const start = after === null ? 0 : listed.findIndex(({ event_id }) => event_id === after) + 1;
    const data = listed.slice(start, start + pageSize);
    const next = `https://api.paddle.com/events?after=${data.at(-1)?.event_id}`;
    const pagination = { per_page: pageSize, next, has_more: start + data.length < listed.length };
    return { json: { data, meta: { request_id: "1", pagination } } };
  });
}
