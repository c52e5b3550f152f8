/** What the Restate server calls for an event: it verifies the HMAC and answers. The Restate server stores the rest. */
import * as restate from "@restatedev/restate-sdk";
import { isSigned } from "./payment.ts";

const callback = restate.service({
  name: "Callback",
  handlers: {
    receive: restate.handlers.handler({ input: restate.serde.binary, accept: "*/*" }, async (context, body) => {
      const claimed = context.request().headers.get("x-signature");
      if (!isSigned(body, claimed)) throw new restate.TerminalError("invalid signature", { errorCode: 401 });
      return { status: "success" };
    }),
  },
});

await restate.serve({ services: [callback], port: Number(process.env.PORT) });
