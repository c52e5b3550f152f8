/** Without the marks of code that messages have for terminals and documents. */
export function plain(message: string): string {
  return message.replaceAll("`", "");
}
