import type { z } from "zod";
import { type Claim, claimOf, firstLineOf, type JsonObject } from "../domain/index.ts";
import type { Mask } from "../observability/index.ts";
import { givesUpAtOf } from "../pipeline/index.ts";
import type { BackfillPreview } from "../retry/index.ts";
import type {
  ListedNotification,
  RecordedRun,
  StoredBackfill,
  StoredBulkReplay,
  StoredCallback,
  StoredEventReplay,
  StoredFailure,
  StoredRecord,
} from "../store/index.ts";
import { BACKFILL, BACKFILL_PREVIEW, type BackfillPreviewView, type BackfillView } from "./backfill-schemas.ts";
import * as callbacks from "./callback-schemas.ts";
import * as replays from "./replay-schemas.ts";
import * as schemas from "./schemas.ts";
import type { FoundCallback } from "./search/search-callbacks.ts";

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** A row of the store: the fields of a view under names in camel case. */
type RowOf<View> = { readonly [Name in keyof View as CamelCase<Name & string>]: View[Name] };

/** Shows rows with only the fields of the schema, in its order. */
function presenterOf<Shape extends z.core.$ZodLooseShape>(schema: z.ZodObject<Shape, z.core.$strict>) {
  const names = Object.keys(schema.shape).map((name) => {
    return [name, name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())] as const;
  });
  return (row: RowOf<z.infer<typeof schema>>): z.infer<typeof schema> => {
    const fields = row as Readonly<Record<string, unknown>>;
    return Object.fromEntries(names.map(([name, from]) => [name, fields[from]])) as z.infer<typeof schema>;
  };
}

const backfillFields = presenterOf(BACKFILL);
const backfillPreviewFields = presenterOf(BACKFILL_PREVIEW);
export const presentRecord = presenterOf(schemas.EVENT);
const failureFields = presenterOf(schemas.FAILURE);
export const presentAuditEntry = presenterOf(schemas.AUDIT_ENTRY);

export function presentFailure(row: StoredFailure, receiver: Parameters<typeof givesUpAtOf>[1]): schemas.FailureView {
  return failureFields({ ...row, givesUpAt: givesUpAtOf(row, receiver) });
}

/** In a list: the event's history has the whole error. */
export function presentFailureRow(...[row, receiver]: Parameters<typeof presentFailure>): schemas.FailureView {
  return presentFailure({ ...row, error: firstLineOf(row.error) }, receiver);
}

const callbackFields = presenterOf(callbacks.CALLBACK);
export function presentCallback(row: StoredCallback): callbacks.CallbackView {
  return callbackFields({
    ...row,
    // Without an event it is the type that the callback claims.
    eventType: row.eventId === null ? null : row.eventType,
    timestamp: row.receivedAt,
    headers: JSON.parse(row.requestHeaders) as Record<string, string>,
    body: row.requestBody,
    diagnosis: row.diagnosis ?? null,
    leftOut: row.leftOut ?? null,
    claimed: presentClaim(claimOf(row)),
  });
}

/** In a list; see `CALLBACK_ROW`. */
export function presentCallbackRow(row: StoredCallback): callbacks.CallbackRowView {
  const { headers: _headers, body: _body, response_body: _response, ...shown } = presentCallback(row);
  return { ...shown, error: firstLine(shown.error) };
}

function firstLine(error: string | null): string | null {
  return error === null ? null : firstLineOf(error);
}

export function presentFound({ row, match }: FoundCallback): callbacks.FoundCallbackView {
  return { ...presentCallbackRow(row), matched: match };
}

export function presentClaim(claim: Claim | null | undefined): callbacks.CallbackView["claimed"] {
  return claim == null ? null : { event_id: claim.eventId, event_type: claim.eventType };
}

const notificationFields = presenterOf(schemas.NOTIFICATION);
const presentDelivery = presenterOf(schemas.DELIVERY);
export function presentNotification(row: ListedNotification): schemas.NotificationView {
  return notificationFields({ ...row, deliveries: row.deliveries.map(presentDelivery) });
}

const notificationRowFields = presenterOf(schemas.NOTIFICATION_ROW);
/** In a list; see `NOTIFICATION_ROW`. */
export function presentNotificationRow(row: ListedNotification): schemas.NotificationRowView {
  const deliveries = row.deliveries.map((delivery) =>
    presentDelivery({ ...delivery, error: firstLine(delivery.error) }),
  );
  return notificationRowFields({ ...row, deliveries });
}

/** For viewers too: secrets that a handler returned are masked. */
export function presentMaskedRecord(row: StoredRecord, mask: Mask): schemas.EventView {
  return presentRecord({ ...row, result: mask.json(row.result) as JsonObject | null });
}

/** For viewers too: secrets that a handler sends are masked. */
export function presentMaskedNotification(row: ListedNotification, mask: Mask): schemas.NotificationView {
  return presentNotification({ ...row, payload: mask.json(row.payload) as JsonObject });
}

export function presentEventReplay(row: StoredEventReplay, mask: Mask): schemas.EventHistoryView["replays"][number] {
  const { replayedAt, actor, reason, earlierResult, earlierProcessedAt } = row;
  return {
    ...{ replayed_at: replayedAt, actor, reason },
    earlier_result: mask.json(earlierResult) as JsonObject,
    earlier_processed_at: earlierProcessedAt,
  };
}

export function presentBackfill({ counts, includesFormer, ...backfill }: StoredBackfill): BackfillView {
  return backfillFields({ ...backfill, ...counts, includeFormer: includesFormer });
}

export function presentBackfillPreview(preview: BackfillPreview): BackfillPreviewView {
  const { run, failed } = preview.sample;
  return backfillPreviewFields({ ...preview, sample: { run, failed: [...failed] } });
}

/** It was masked before it was stored. */
export function presentRecordedRun(row: RecordedRun): schemas.EventHistoryView["runs"][number] {
  const { endedAt: ended_at, trigger, outcome, statements } = row;
  const by = trigger as schemas.EventHistoryView["runs"][number]["by"];
  return { ended_at, by, outcome, ...JSON.parse(statements) };
}

const unreplayedFields = presenterOf(replays.UNREPLAYED_EVENT);
export const presentUnreplayed: typeof unreplayedFields = (row) =>
  unreplayedFields({ ...row, error: firstLineOf(row.error) });

const bulkReplayFields = presenterOf(replays.BULK_REPLAY);
export function presentBulkReplay(bulk: StoredBulkReplay): schemas.BulkReplayView {
  const { eventType, bulkReplay, ...filter } = bulk.filter;
  return bulkReplayFields({
    ...bulk,
    filter: {
      ...filter,
      ...(eventType === undefined ? {} : { event_type: eventType }),
      ...(bulkReplay === undefined ? {} : { bulk_replay: String(bulkReplay) }),
    },
    done: bulk.succeeded + bulk.alreadyHandled + bulk.failed + bulk.skipped,
  });
}
