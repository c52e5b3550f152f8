import type { Chance } from "../driver/chance.ts";

/** Bodies that have broken parsers, stores and logs before. */
const HOSTILE: readonly (Buffer | string)[] = [
  "",
  "null",
  "[]",
  '"text"',
  "{",
  "{}{}",
  '{"event_id":"a","event_id":"b"}',
  '{"__proto__":{"polluted":true},"event_id":"a"}',
  '{"constructor":{"prototype":{"polluted":true}},"event_id":"a"}',
  '{"\\u005f\\u005fproto__":{"polluted":true},"event_id":"a"}',
  '{"event_id":{"$ne":null}}',
  '{"event_id":["a"]}',
  '{"event_id":""}',
  '{"event_id":"\\u0000"}',
  '{"event_id":"\\ud800"}',
  '{"event_id":"a\\u202eb"}',
  '{"event_id":"../../etc/passwd"}',
  `{"event_id":"'; DROP TABLE oncehook_records; --"}`,
  '{"event_id":"<script>alert(1)</script>"}',
  '{"event_id":"\\u001b[2J\\u001b]0;owned\\u0007"}',
  '{"event_id":"a\\r\\nlevel=fatal"}',
  `{"event_id":"${"x".repeat(255)}"}`,
  `{"event_id":"${"x".repeat(256)}"}`,
  `{"event_id":"${"😀".repeat(64)}"}`,
  '{"event_id":"e","timestamp":1e400}',
  '{"event_id":"e","timestamp":-0}',
  '{"event_id":"e","timestamp":9007199254740993}',
  `{"event_id":"e","timestamp":${"9".repeat(4_000)}}`,
  '{"event_id":"e","event_type":"__proto__"}',
  '{"event_id":"e","event_type":"constructor"}',
  '{"event_id":"e","event_type":"ledger_posting","timestamp":1,"data":{"from":"\\u0000","to":"\\ud800","cents":1e308}}',
  "[".repeat(100_000),
  `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
  Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.alloc(1_024),
];

/** A body of a list, or an event in which something was broken. */
export function hostileBody(chance: Chance, naughty: readonly string[]): Buffer {
  if (chance.is(0.2)) return Buffer.from(chance.pick(HOSTILE));
  const event = Buffer.from(JSON.stringify(strangeEvent(chance, naughty)));
  return chance.is(0.5) ? event : broken(event, chance);
}

function strangeEvent(chance: Chance, naughty: readonly string[]): object {
  const strange = (): unknown =>
    chance.pick<() => unknown>([
      () => chance.pick(naughty),
      () => chance.between(-(2 ** 31), 2 ** 31),
      () => null,
      () => [chance.pick(naughty)],
      () => ({ [chance.pick(naughty)]: chance.pick(naughty) }),
      () => chance.is(0.5),
    ])();
  const usual = <Value>(value: Value): unknown => (chance.is(0.8) ? value : strange());
  return {
    event_id: usual(`hostile-${chance.below(1e9)}`),
    event_type: usual("ledger_posting"),
    timestamp: usual(1_767_225_600),
    data: usual({ from: usual("account-0"), to: usual("account-1"), cents: usual(chance.between(1, 1_000)) }),
    ...(chance.is(0.2) && { [chance.pick(naughty)]: strange() }),
  };
}

/** Bits flipped, pieces cut out, doubled or put in. */
function broken(bytes: Buffer, chance: Chance): Buffer {
  const copy = Buffer.from(bytes);
  const at = chance.below(copy.length);
  const until = at + chance.below(copy.length - at);
  switch (chance.below(4)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << chance.below(8));
      return copy;
    case 1:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(until)]);
    case 2:
      return Buffer.concat([copy.subarray(0, until), copy.subarray(at)]);
    default:
      return Buffer.concat([copy.subarray(0, at), Buffer.from([chance.below(256)]), copy.subarray(at)]);
  }
}
