import "./figure.css";
import { PageLink } from "./page-link.tsx";

const COUNT = new Intl.NumberFormat();

interface Props {
  readonly count: number;
  /** The list that has so many rows. */
  readonly search: Readonly<Partial<Record<"source" | "from" | "to" | "outcome" | "event_type", string>>>;
  /** After the number, such as "failed". */
  readonly word?: string;
  /** Its meaning, for those who hear the number without its place. */
  readonly label?: string;
}

/** A number that leads to the list of what it counts. */
export function Figure({ count, search, word, label }: Props) {
  return (
    <PageLink
      to="/activity"
      search={search}
      className="figure"
      data-empty={count === 0}
      underline="hover"
      aria-label={label === undefined ? undefined : `${label}: ${COUNT.format(count)}`}
    >
      {COUNT.format(count)}
      {word !== undefined && ` ${word}`}
    </PageLink>
  );
}
