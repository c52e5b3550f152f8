import { createServer } from "node:http";

/**
 * Stands in for the platform's user information where the sandbox platform signs users in, which knows nobody's
 * name. It believes any token: only for a trial on this machine.
 */
const port = Number(process.env.PEOPLE_PORT ?? 8090);
createServer((request, response) => {
  const hasToken = request.headers.authorization?.startsWith("Bearer ") ?? false;
  response.writeHead(hasToken ? 200 : 401, { "content-type": "application/json" });
  response.end(JSON.stringify(hasToken ? { sub: "sandbox-user", name: "Ada" } : { error: "no token" }));
}).listen(port, "127.0.0.1");
