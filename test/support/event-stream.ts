import { type CallbackFilters, createAdminClient, type LiveEvent } from "../../src/admin-client/index.ts";
import type { TestReceiver } from "./receiver.ts";
import { TOKEN } from "./secrets.ts";
import { until } from "./until.ts";

/** What somebody hears who listens to a receiver. */
export interface Listening {
  readonly events: readonly LiveEvent[];
  /** The request ids of the callbacks, in the order in which they came. */
  requestIds(): string[];
  eventIds(): (string | null)[];
}

export interface Message {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

/** Lends the live stream as the typed client reads it, once it is open. */
export async function withListening<T>(
  origin: string,
  filters: CallbackFilters,
  use: (listening: Listening) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const events: LiveEvent[] = [];
  const client = createAdminClient({ origin, token: TOKEN });
  const reading = (async () => {
    for await (const event of client.live(filters, { signal: over.signal })) events.push(event);
  })();
  const callbacks = () => events.flatMap((one) => (one.event === "callback" ? [one.callback] : []));
  try {
    await Promise.race([until(() => events.length > 0), reading]);
    return await use({
      events,
      requestIds: () => callbacks().map(({ request_id }) => request_id),
      eventIds: () => callbacks().map(({ event_id }) => event_id),
    });
  } finally {
    over.abort();
    await reading;
  }
}

/** The raw events that came until enough had come. */
export async function readEvents(
  { adminOrigin }: Pick<TestReceiver, "adminOrigin">,
  query: string,
  headers: Record<string, string>,
  isEnough: (messages: readonly Message[]) => boolean,
): Promise<Message[]> {
  const over = new AbortController();
  const response = await fetch(`${adminOrigin}/api/v1/live${query}`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    signal: over.signal,
  });
  const messages: Message[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    messages.push(...blocks.filter((block) => !block.startsWith(":")).map(messageOf));
    if (isEnough(messages)) break;
  }
  over.abort();
  return messages;
}

function messageOf(block: string): Message {
  const [, id = "", event = "", data = ""] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
  return { id, event, data: JSON.parse(data) };
}
