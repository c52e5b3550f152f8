import { Tabs } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { CallbackView, EventHistoryView } from "oncehook/admin-client";
import { type ReactNode, useState } from "react";
import { api } from "../client.ts";
import { claimedBy } from "../parts/claimed.ts";
import { Loading, Problem } from "../parts/page-states.tsx";
import { Time } from "../parts/time.tsx";
import { EventIdLine } from "./event-id-line.tsx";
import { FailureActionResult, type FinishedReplay } from "./failure-action-result.tsx";
import { FailureActions } from "./failure-actions.tsx";
import { OfSource } from "./of-source.tsx";
import { openedBy } from "./opened.ts";
import { CopyAsCurl } from "./panel-copies.tsx";
import { PanelFrame } from "./panel-frame.tsx";
import { PayloadTab } from "./payload-tab.tsx";
import { RefusalSteps } from "./refusal-steps.tsx";
import { RequestTab } from "./request-tab.tsx";
import { ResponseTab } from "./response-tab.tsx";
import { ResultLine } from "./result-line.tsx";
import { RunAgainButton } from "./run-again-button.tsx";
import { SqlTab } from "./sql-tab.tsx";
import { TimelineTab } from "./timeline-tab.tsx";

const EVERY_MS = 10_000;

interface Props {
  /** The `open` of the address: a callback's number, or an event as its source and its id. */
  readonly id: string;
  readonly close: () => void;
}

/** One callback and its event, beside the list that it was opened from. */
export function EventPanel({ id, close }: Props) {
  const { callback, history, error, again } = useOpened(id);
  const [message, setMessage] = useState<string>();
  const [replayed, setReplayed] = useState<FinishedReplay>();
  const [tab, setTab] = useState<string>("Payload");
  const failure = history?.pages[0]?.failure ?? null;
  const key = history?.pages[0];
  const event = key?.event ?? null;
  const source = callback?.source ?? key?.source;
  return (
    <PanelFrame
      label="Callback"
      title={
        <>
          {titleOf(callback, key)} {source !== undefined && <OfSource source={source} />}
        </>
      }
      beside={callback !== undefined && <Time at={callback.timestamp} relative />}
      close={close}
    >
      {error !== null && <Problem error={error} title="The callback could not be read" again={again} />}
      {callback === undefined && history === undefined && error === null && <Loading what="the callback" />}
      {(callback !== undefined || history !== undefined) && (
        <>
          <EventIdLine callback={callback} history={key} />
          <ResultLine callback={callback} history={key} showDeliveries={() => setTab("Timeline")} />
          <FailureActionResult message={message} replayed={replayed} close={() => setReplayed(undefined)} />
          <div className="panel-actions">
            {failure !== null && <FailureActions failure={failure} onDone={setMessage} onReplay={setReplayed} />}
            {failure === null && event?.status === "completed" && <RunAgainButton event={event} />}
            {callback !== undefined && <RefusalSteps callback={callback} />}
            {callback !== undefined && <CopyAsCurl callback={callback} />}
          </div>
          <PanelTabs callback={callback} history={history} tab={tab} choose={setTab} />
        </>
      )}
    </PanelFrame>
  );
}

/** The event's type; without an authentic event, the type that the callback claims. */
function titleOf(callback: CallbackView | undefined, history: EventHistoryView | undefined): ReactNode {
  const type = callback?.event_type ?? history?.event?.event_type ?? history?.failure?.event_type;
  if (type !== undefined && type !== null && type !== "") return type;
  if (callback === undefined) return "Callback";
  const { id, type: claimed, isUnverified } = claimedBy(callback);
  if (claimed === undefined) return "Callback";
  // The id below says it where there is one.
  if (id !== undefined || !isUnverified) return claimed;
  return (
    <>
      {claimed} <em className="unverified">unverified</em>
    </>
  );
}

type History = ReturnType<typeof useHistory>;

interface TabsProps {
  readonly callback: CallbackView | undefined;
  readonly history: (History["data"] & { more?: (() => void) | undefined }) | undefined;
  readonly tab: string;
  readonly choose: (tab: string) => void;
}

function PanelTabs({ callback, history, tab, choose }: TabsProps) {
  const newest = history?.pages[0];
  const event = newest?.event ?? null;
  // No handler runs for a callback without an authentic event.
  const hasEvent = history !== undefined || callback?.event_id != null;
  const entries = history?.pages.flatMap(({ timeline }) => timeline) ?? [];
  const tabs: readonly (readonly [name: string, content: ReactNode])[] = [
    [
      "Payload",
      callback === undefined ? <NotLogged key="payload" /> : <PayloadTab key="payload" callback={callback} />,
    ],
    [
      "Timeline",
      <TimelineTab key="timeline" callback={callback} entries={entries} history={newest} more={history?.more} />,
    ],
    ...(hasEvent
      ? [["SQL", <SqlTab key="sql" failure={newest?.failure ?? null} handled={event} run={newest?.runs[0]} />] as const]
      : []),
    [
      "Request",
      callback === undefined ? <NotLogged key="request" /> : <RequestTab key="request" callback={callback} />,
    ],
    [
      "Response",
      <ResponseTab
        key="response"
        callback={callback}
        result={newest?.event?.result ?? null}
        replays={newest?.replays ?? []}
      />,
    ],
  ];
  return (
    <Tabs value={tab} onChange={(next) => choose(next ?? "Payload")} keepMounted={false} className="panel-tabs">
      <Tabs.List>
        {tabs.map(([name]) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(([name, content]) => (
        <Tabs.Panel key={name} value={name} className="panel-content">
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function NotLogged() {
  return <p className="quiet">The callback log has no request of this event any more.</p>;
}

/** The callback of the address with the history of its event. */
function useOpened(id: string) {
  const opened = openedBy(id);
  const event = useHistory("source" in opened ? opened : undefined);
  const first = event.data?.pages[0]?.timeline.find((entry) => "callback_id" in entry && entry.callback_id !== null);
  const ofEvent = first !== undefined && "callback_id" in first ? (first.callback_id ?? undefined) : undefined;
  const number = "callback" in opened ? opened.callback : ofEvent;
  const callback = useQuery({
    queryKey: ["callback", number],
    queryFn: () => api.callbacks.get(number ?? 0),
    enabled: number !== undefined,
  });
  const { source = null, event_id = null } = callback.data ?? {};
  const isOfCallback = "callback" in opened && source !== null && event_id !== null;
  const ofCallback = useHistory(isOfCallback ? { source, event_id } : undefined);
  const history = "source" in opened ? event : ofCallback;
  const more = history.hasNextPage ? () => void history.fetchNextPage() : undefined;
  return {
    callback: callback.data,
    history: history.data === undefined ? undefined : { ...history.data, more },
    error: callback.error ?? ("source" in opened ? event.error : null),
    again: () => void (callback.isError ? callback.refetch() : event.refetch()),
  };
}

function useHistory(key: { readonly source: string; readonly event_id: string } | undefined) {
  return useInfiniteQuery({
    queryKey: ["event", key?.source, key?.event_id],
    queryFn: ({ pageParam }): Promise<EventHistoryView> =>
      api.events.get(key?.source ?? "", key?.event_id ?? "", pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ timeline_cursor }) => timeline_cursor,
    enabled: key !== undefined,
    refetchInterval: ({ state: { data } }) =>
      isChanging(data?.pages[0]) ? EVERY_MS * (data?.pages.length ?? 1) : false,
  });
}

/** A failed event is tried again, and so is a notification; a handled event does not change. */
function isChanging(history: EventHistoryView | undefined): boolean {
  if (history === undefined) return false;
  const deliveries = history.notifications.flatMap((one) => one.deliveries);
  return history.failure !== null || deliveries.some(({ state }) => state === "waiting");
}
