/** One event of a stream; a comment is one without data. */
export interface Message {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * The events of `text/event-stream`, as far as the admin API sends them. Reading ends with the stream.
 * @param watch told when the next piece is waited for, and when it has come: a connection over which nothing comes may be dead
 */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  watch: { begin(): void; end(): void },
): AsyncGenerator<Message, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      watch.begin();
      const { done, value } = await reader.read();
      watch.end();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield messageOf(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function messageOf(block: string): Message {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
  }
  return { event: fields.get("event") ?? "", data: fields.get("data") ?? "", id: fields.get("id") };
}
