export { createAlertLoop } from "./alert-loop.ts";
export { type Arrivals, createArrivals } from "./arrivals.ts";
