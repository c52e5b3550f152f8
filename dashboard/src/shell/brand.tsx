interface Props {
  /** Without the name. */
  readonly isMark?: boolean;
}

/** The mark: an arrow that comes back to its point once. */
export function Brand({ isMark = false }: Props) {
  return (
    <span className="brand">
      <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M10 11v6a6 6 0 0 0 12 0v-3" />
        <path d="m18 17 4-4 4 4" />
        <circle cx="10" cy="8" r="2.6" />
      </svg>
      {!isMark && <span className="brand-name">Oncehook</span>}
    </span>
  );
}
