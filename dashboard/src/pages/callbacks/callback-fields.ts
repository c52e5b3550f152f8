import type { FilterField } from "../../parts/filter-form.tsx";

/** The filters of the callback log. */
export const CALLBACK_FIELDS: readonly FilterField[] = [
  { name: "from", label: "Since", isTime: true },
  { name: "to", label: "Until", isTime: true },
  { name: "source", label: "Source", suggestions: ["platform"] },
  {
    name: "event_type",
    label: "Event type",
    suggestions: ["user_authorized", "payment_notify", "webhook_message"],
  },
  { name: "event_id", label: "Event id" },
  {
    name: "status",
    label: "Status",
    placeholder: "200, 4xx, 5xx",
    suggestions: ["2xx", "4xx", "5xx", "200", "400", "401", "429", "500", "503"],
  },
  {
    name: "outcome",
    label: "Outcome",
    suggestions: [
      "success",
      "already_processed",
      "rejected",
      "event_invalid",
      "event_type_unknown",
      "signature_mismatch",
      "endpoint_check",
      "handler_failed",
      "handler_timed_out",
      "store_unavailable",
      "overloaded",
    ],
  },
  { name: "remote_address", label: "Remote address" },
  { name: "text", label: "Text in the masked body" },
];
