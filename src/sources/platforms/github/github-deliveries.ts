import { optionError, wrongOption } from "../../option-error.ts";
import { ApiError, createApiClient } from "../../reconcile/api-client.ts";
import { callbackOf, property, textProperty } from "../../reconcile/api-json.ts";
import { eventsOf } from "../../reconcile/listed-events.ts";
import {
  type MissedCallback,
  type ReconcileOptions,
  type Reconciliation,
  readReconcileOptions,
} from "../../reconcile/reconciliation.ts";

/** Which webhook: of a repository or of an organization. */
export interface GitHubReconcileOptions extends ReconcileOptions {
  /** `owner/name`; this or `organization`. */
  readonly repository?: string;
  readonly organization?: string;
  /** The webhook's number: the end of the address of its settings page. */
  readonly hook: number;
  /** `failed` (the default): those that GitHub saw fail. `all`: also those that got success. */
  readonly deliveries?: "failed" | "all";
}

const NAME = /^[\w.-]{1,100}$/;
const REPOSITORY = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;

/**
 * GitHub's deliveries of a webhook, newest first, of the past 3 days (Enterprise Server: 7): `GET …/hooks/{id}/deliveries`
 * with the cursor of its `Link` header, and `GET …/deliveries/{id}` for headers and payload. All deliveries of an event
 * share a `guid`, which is `X-GitHub-Delivery`. A delivery whose `status` is not `OK` has failed.
 * Source: GitHub Docs, "Repository webhooks", "Redelivering webhooks" and its script for failed deliveries.
 * @throws OptionError that names the option that is wrong
 */
export function githubDeliveries(options: GitHubReconcileOptions): Reconciliation {
  const { apiKey, everyMs, apiUrl } = readReconcileOptions(options, "https://api.github.com");
  const path = `${ownerPath(options)}/deliveries`;
  const onlyFailed = readDeliveries(options) === "failed";
  const call = createApiClient(apiUrl, {
    authorization: `Bearer ${apiKey}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
  });
  return {
    everyMs,
    keepsDays: 3,
    address: `${apiUrl}${path}`,
    async *list({ from, to }, context) {
      const seen = new Set<string>();
      let { cursor } = context;
      do {
        const after = cursor === undefined ? undefined : { cursor };
        const { json, link } = await call({ path, query: { per_page: "100", ...after } }, context);
        const deliveries = eventsOf(json);
        const times = deliveries.map((one) => Date.parse(textProperty(one, "delivered_at") ?? ""));
        const events = deliveries.flatMap((one, index) => {
          const time = times[index] as number;
          const guid = textProperty(one, "guid") ?? "";
          if (time < from.getTime() || time >= to.getTime() || seen.has(guid)) return [];
          if (onlyFailed && textProperty(one, "status") === "OK") return [];
          seen.add(guid);
          const id = textProperty(one, "id") ?? "";
          return {
            id: guid,
            type: textProperty(one, "event") ?? "",
            at: textProperty(one, "delivered_at") ?? "",
            callback: async () => deliveredCallback((await call({ path: `${path}/${digits(id)}` }, context)).json),
          };
        });
        const isPast = times.length > 0 && times.every((time) => time < from.getTime());
        cursor = isPast ? undefined : nextCursor(link);
        yield { events, next: cursor };
      } while (cursor !== undefined);
    },
  };
}

function ownerPath({ repository, organization, hook }: GitHubReconcileOptions): string {
  if (!Number.isSafeInteger(hook) || hook <= 0)
    throw wrongOption("reconcile.hook", hook, "the webhook's number, such as 123456");
  if ((repository === undefined) === (organization === undefined)) {
    const got = repository === undefined ? "neither `repository` nor" : "both `repository` and";
    throw optionError("reconcile", `${got} \`organization\``, "one of them");
  }
  if (repository !== undefined) {
    if (REPOSITORY.test(repository) && !isDotted(repository)) return `/repos/${repository}/hooks/${hook}`;
    throw wrongOption("reconcile.repository", repository, '"owner/name"');
  }
  const name = String(organization);
  if (NAME.test(name) && !isDotted(name)) return `/orgs/${name}/hooks/${hook}`;
  throw wrongOption("reconcile.organization", name, "its name");
}

/** The URL Standard removes such a part, so that another resource would be asked. */
function isDotted(path: string): boolean {
  return path.split("/").some((part) => part === "." || part === "..");
}

function readDeliveries({ deliveries = "failed" }: GitHubReconcileOptions): "failed" | "all" {
  if (deliveries === "failed" || deliveries === "all") return deliveries;
  throw wrongOption("reconcile.deliveries", deliveries, '"failed" or "all"');
}

function digits(id: string): string {
  if (/^\d{1,20}$/.test(id)) return id;
  throw new ApiError("a delivery without a number for its id", 404);
}

/** RFC 8288, `<…?cursor=v1_17323292984>; rel="next"`: only the cursor is taken from it, and no address. */
function nextCursor(link: string): string | undefined {
  for (const part of link.split(",")) {
    const [target = "", ...parameters] = part.split(";").map((text) => text.trim());
    if (!parameters.includes('rel="next"') || !target.startsWith("<")) continue;
    return URL.parse(target.slice(1, -1))?.searchParams.get("cursor") ?? undefined;
  }
  return undefined;
}

/** @throws ApiError for a delivery that has no payload any more */
function deliveredCallback(delivery: unknown): MissedCallback {
  const request = property(delivery, "request");
  const payload = property(request, "payload");
  const sent = property(request, "headers");
  if (typeof payload !== "object" || payload === null || typeof sent !== "object" || sent === null)
    throw new ApiError("the delivery has no headers or no payload any more", 410);
  const headers = Object.entries(sent).flatMap(([name, value]): [string, string[]][] =>
    typeof value === "string" ? [[name.toLowerCase(), [value]]] : [],
  );
  return callbackOf(payload, Object.fromEntries(headers));
}
