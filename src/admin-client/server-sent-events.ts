/** One event of a stream; a comment is one without data. */
export interface Message {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * The events of `text/event-stream`, as far as the admin API sends them. Reading ends with the stream.
 * @param heard told of each piece, so that a connection that is dead can be told from one that is quiet
 */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<Message, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
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
