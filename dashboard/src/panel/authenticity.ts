import { AUTHENTICITY, type CallbackView } from "oncehook/admin-client";

/** A redirect is a browser's: its state is looked up, and mostly nothing of it is signed. */
const REDIRECTS = "oauth";
const UNKNOWN = "Not known: this outcome does not tell whether it was authentic.";

/** Whether a callback is authentic, in a sentence. */
export function authenticityOf({ outcome, source }: Pick<CallbackView, "outcome" | "source">): string {
  switch (AUTHENTICITY[outcome]) {
    case "refused":
      return "Not authentic: it was refused, and nothing was done.";
    case "unchecked":
      return "Not checked: it was turned away before that.";
    case "verified":
      return source === null || source === REDIRECTS
        ? UNKNOWN
        : "Authentic: what it was signed or authenticated with is the platform's.";
    default:
      return UNKNOWN;
  }
}
