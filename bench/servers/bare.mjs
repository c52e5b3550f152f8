/** The limit: node:http that reads the body and verifies the HMAC. It stores nothing and knows no duplicates. */
import { createServer } from "node:http";
import { isSigned } from "./payment.ts";

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    const isRight = isSigned(body, request.headers["x-signature"]);
    response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
    response.end(isRight ? '{"status":"success"}' : '{"status":"error"}');
  });
}).listen(Number(process.env.PORT), "127.0.0.1");
