import { Box, Text } from "@mantine/core";

interface Props {
  /** The text's name, for screen readers. */
  readonly label: string;
  readonly text: string;
}

/** Text as it came: a body, a stack. JSON is set in lines. */
export function TextBlock({ label, text }: Props) {
  if (text === "") return <Text c="dimmed">Empty</Text>;
  return (
    // The keyboard must reach an element that scrolls.
    <Box component="pre" className="text-block" role="group" aria-label={label} tabIndex={0}>
      {inLines(text)}
    </Box>
  );
}

/** Only the white space between values changes, and only where no number would lose digits. */
export function inLines(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
