export { createPoller, type Poller } from "./poller.ts";
