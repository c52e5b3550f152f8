import { toNextJsHandler } from "oncehook";
import { receiver } from "../../../../lib/receiver.ts";

export const { GET, HEAD, POST } = toNextJsHandler(receiver);
