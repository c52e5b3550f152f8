/**
 * Channels with deliveries that wait although nobody serves them: they were taken out of the configuration.
 * @returns a sentence for each
 */
export function unserved(waiting: ReadonlyMap<string, number>, destinations: readonly string[]): string[] {
  return [...waiting]
    .filter(([channel]) => !destinations.includes(channel))
    .map(
      ([channel, count]) =>
        `${count === 1 ? "1 notification waits" : `${count} notifications wait`} for the channel ${channel}, which is ` +
        "not configured: configure it again, or discard them (DELETE /api/v1/notifications/:id?channel=…)",
    );
}
