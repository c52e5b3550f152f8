import type { AdminClient, CallbackFilters, PageParams } from "../../src/admin-client/index.ts";
import { SPREAD_SECONDS } from "./fill.ts";

interface Answered {
  readonly items?: readonly unknown[];
  readonly next_cursor?: string | null;
}

/** One request; `paging` goes on where the one before has ended. */
export type Ask = (client: AdminClient, paging: PageParams) => Promise<Answered>;

/** What is measured under one name: each call makes another request of its kind. Its own goal is in milliseconds. */
export type Kind = readonly [name: string, make: () => Ask, goalMs?: number];

/** Every filter of the callback log, and what each page asks for. */
export function kindsFor(rows: number): readonly Kind[] {
  const someRow = () => 1 + Math.floor(Math.random() * rows);
  return [...filters(someRow).map(search), ...pages(someRow)];
}

function search([name, make]: readonly [string, () => CallbackFilters]): Kind {
  return [
    `callbacks: ${name}`,
    () => {
      const wanted = make();
      return (client, paging) => client.callbacks.list({ ...wanted, ...paging });
    },
  ];
}

function filters(someRow: () => number): readonly (readonly [string, () => CallbackFilters])[] {
  return [
    ["no filter", () => ({})],
    ["from, to: some hour", () => hourFrom(someTime())],
    ["to: some time", () => ({ to: someTime().toISOString() })],
    ["source that is common", () => ({ source: "platform" })],
    ["source of one in a thousand", () => ({ source: "oauth" })],
    ["source that nothing has", () => ({ source: "nobody" })],
    ["event_type of one in three", () => ({ event_type: "payment_notify" })],
    ["event_type of one in five thousand", () => ({ event_type: "user_authorized" })],
    ["status 401 (Refused)", () => ({ status: 401 })],
    ["status 5xx", () => ({ status: "5xx" })],
    ["status 418, that nothing has", () => ({ status: 418 })],
    ["outcome signature_mismatch", () => ({ outcome: "signature_mismatch" })],
    ["outcome overloaded, that nothing has", () => ({ outcome: "overloaded" })],
    ["outcome already_processed", () => ({ outcome: "already_processed" })],
    ["remote_address", () => ({ remote_address: `192.0.2.${someRow() % 200}` })],
    ["event_id", () => ({ event_id: `evt_${someRow()}` })],
    ["text of every row", () => ({ text: "order-" })],
    ["text of one row", () => ({ text: `order-${someRow()}"` })],
    ["text of one row, in some hour", () => ({ ...hourFrom(someTime()), text: `order-${someRow()}"` })],
    ["text of no row, among the refused", () => ({ status: 401, text: "nowhere" })],
  ];
}

function pages(someRow: () => number): readonly Kind[] {
  return [
    ["overview: hour", () => (client) => one(client.overview("hour"))],
    ["overview: day", () => (client) => one(client.overview("day"))],
    ["overview: month", () => (client) => one(client.overview("month"))],
    ["one callback", () => (client) => one(client.callbacks.get(someRow()))],
    ["one event", () => (client) => one(client.events.get("platform", `evt_${10 * Math.ceil(someRow() / 10)}`))],
    ["events", () => (client, paging) => client.events.list(paging)],
    [
      "events of a source that nothing has",
      () => (client, paging) => client.events.list({ ...paging, source: "nobody" }),
    ],
    ["failures", () => (client, paging) => client.failures.list(paging)],
    ["failures of a type", () => (client, paging) => client.failures.list({ ...paging, event_type: "payment_notify" })],
    ["failures that wait", () => (client, paging) => client.failures.list({ ...paging, state: "waiting" })],
    [
      "failures of a code that none has",
      () => (client, paging) => client.failures.list({ ...paging, code: "handler_timeout" }),
    ],
    ["notifications", () => (client, paging) => client.notifications.list(paging)],
    ["notifications that are dead", () => (client, paging) => client.notifications.list({ ...paging, state: "dead" })],
    ["notifications that wait", () => (client, paging) => client.notifications.list({ ...paging, state: "waiting" })],
    ["audit log", () => (client, paging) => client.audit.list(paging)],
    [
      "audit log of an action that was never done",
      () => (client, paging) => client.audit.list({ ...paging, action: "failure.discard" }),
    ],
    ["sources", () => (client) => one(client.sources.list())],
  ];
}

/** What a page of problems asks for, with as many failures as `fillFailures` has written. */
export function kindsOfProblems(): readonly Kind[] {
  const most = "aaaaaaaaaaaa";
  const soon = () => new Date(Date.now() + 3_600_000).toISOString();
  return [
    ["problems", () => async (client) => ({ items: (await client.problems.list()).items }), 500],
    ["one problem of nine in ten failures", () => (client) => one(client.problems.get(most))],
    ["one problem of one in eighty", () => (client) => one(client.problems.get("000000000001"))],
    ["mute of a problem", () => (client) => one(client.problems.mute(most, { until: soon(), reason: "measured" }))],
  ];
}

/** What is no list counts as one item. */
async function one(answer: Promise<unknown>): Promise<Answered> {
  return { items: [await answer] };
}

const someTime = () => new Date(Date.now() - Math.random() * SPREAD_SECONDS * 1_000);

function hourFrom(time: Date): CallbackFilters {
  return { from: time.toISOString(), to: new Date(time.getTime() + 3_600_000).toISOString() };
}
