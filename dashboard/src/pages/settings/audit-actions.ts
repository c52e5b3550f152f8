/** The actions of the admin API in words. */
const NAMES: Readonly<Record<string, string>> = {
  "alert.mute": "Mute alert",
  "alert.unmute": "Unmute alert",
  "backfill.cancel": "Cancel backfill",
  "backfill.dry_run": "Dry run of a backfill",
  "backfill.pause": "Pause backfill",
  "backfill.resume": "Resume backfill",
  "backfill.start": "Start backfill",
  "bulk_replay.cancel": "Cancel bulk replay",
  "bulk_replay.dry_run": "Dry run of a bulk replay",
  "bulk_replay.pause": "Pause bulk replay",
  "bulk_replay.resume": "Resume bulk replay",
  "bulk_replay.start": "Start bulk replay",
  "checks.run": "Run checks",
  "erasure.done": "Erasure done",
  "erasure.dry_run": "Dry run of an erasure",
  "erasure.start": "Start erasure",
  "event.dry_run": "Dry run of a handled event",
  "event.replay": "Replay handled event",
  "failure.discard": "Discard failure",
  "failure.dry_run": "Dry run of a failure",
  "failure.replay": "Replay failure",
  "notification.discard": "Discard notification",
  "notification.replay": "Redeliver notification",
  "oauth_state.expect": "Expect OAuth flow",
  "problem.deliver": "Redeliver problem",
  "problem.mute": "Mute problem",
  "problem.unmute": "Unmute problem",
  "sandbox.oauth": "Run OAuth flow",
  "sandbox.send": "Send test event",
  "sandbox.source": "Send test callback",
  "session.begin": "Sign in",
  "session.end": "Sign out",
  "session.refused": "Refused credentials",
  "source.check": "Check endpoint",
  "source.relearn": "Relearn secrets",
  "user_tokens.revoke": "Revoke user tokens",
};

export const ACTIONS = Object.keys(NAMES);

/** The name itself, where it is one of a later version. */
export function actionName(action: string): string {
  return NAMES[action] ?? action;
}
