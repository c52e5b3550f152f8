/** Outcomes in the groups of `outcomeCounts`: a chart of forty codes says nothing. */
export const GROUPS = [
  { name: "handled", label: "Handled", color: "green.7" },
  { name: "duplicates", label: "Duplicates", color: "gray.6" },
  { name: "ignored", label: "Ignored", color: "blue.6" },
  { name: "refused", label: "Refused", color: "orange.7" },
  { name: "failed", label: "Failed", color: "red.7" },
] as const;
