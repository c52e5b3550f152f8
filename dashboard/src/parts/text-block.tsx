import { Box, Text } from "@mantine/core";

interface Props {
  /** What it is, for those who do not see it. */
  readonly label: string;
  readonly text: string;
}

/** Text as it came: a body, a stack. JSON is set in lines. */
export function TextBlock({ label, text }: Props) {
  if (text === "") return <Text c="dimmed">Empty</Text>;
  return (
    // What scrolls must be reached by the keyboard.
    <Box component="pre" className="text-block" role="region" aria-label={label} tabIndex={0}>
      {inLines(text)}
    </Box>
  );
}

/** Numbers stay as they were written, since only the white space between values changes where nothing would be lost. */
export function inLines(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
