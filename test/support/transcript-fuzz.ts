import { objectsIn, recordings, type Cli, type Line, type Random, type Transcript } from './transcripts.ts';

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
const place = (random: Random, bytes: Buffer): number => Math.floor(random() * (bytes.length + 1));
const insert = (bytes: Buffer, at: number, more: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

const GARBAGE: readonly Buffer[] = [
  Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from('\0\0'),
  Buffer.from('\r\n'),
  Buffer.from('\n'),
  Buffer.from('\u2028\u0085'),
  Buffer.from('Traceback (most recent call last):\n'),
  Buffer.from(`${'['.repeat(20_000)}\n`),
  Buffer.from(`{"type":"result","is_error":false${',"a":{"a":'.repeat(50)}\n`),
  Buffer.from('x'.repeat(100_000)),
];

/** What can become of bytes on their way. */
const DAMAGES: readonly ((bytes: Buffer, random: Random) => Buffer)[] = [
  (bytes, random) => insert(bytes, place(random, bytes), pick(random, GARBAGE)),
  (bytes, random) => bytes.subarray(0, place(random, bytes)),
  (bytes, random) => bytes.subarray(place(random, bytes)),
  (bytes, random) => {
    const damaged = Buffer.from(bytes);
    if (damaged.length > 0) damaged[Math.floor(random() * damaged.length)] = Math.floor(random() * 256);
    return damaged;
  },
  (bytes, random) => {
    const lines = bytes.toString('latin1').split('\n');
    lines.splice(Math.floor(random() * lines.length), 1, pick(random, lines), pick(random, lines));
    return Buffer.from(lines.join('\n'), 'latin1');
  },
  (bytes, random) => {
    const odd = pick(random, ['-5', '1e18', 'null', '"9"', '1.5', '{}', '[[]]', 'true']);
    const nth = Math.floor(random() * 30);
    let seen = 0;
    return Buffer.from(
      bytes.toString('latin1').replaceAll(/(?<=":)(?:\d+|"[^"]{0,40}"|true|false|null)/g, (value) => {
        seen += 1;
        return seen - 1 === nth ? odd : value;
      }),
      'latin1',
    );
  },
];

/** A true recording with one to four damages. */
export function damagedTranscript(random: Random): Transcript {
  const cli = pick<Cli>(random, ['antigravity', 'claude', 'codex']);
  const recorded = Buffer.from(pick(random, [...recordings(cli).values()]));
  let stdout: Buffer = recorded;
  for (let left = 1 + Math.floor(random() * 4); left > 0; left -= 1) stdout = pick(random, DAMAGES)(stdout, random);
  return { cli, stdout, code: pick(random, [0, 0, 1, 137]) };
}

const LIMITS = [
  "You've hit your session limit · resets 7pm (Europe/Madrid)",
  'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 11:28 AM.',
  'Individual quota reached. Please upgrade your subscription to increase your limits. Resets in 34m13s.',
  'API Error: Request rejected (429) · This request would exceed your rate limit',
  'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}',
];
const SESSION = {
  runtime: 'any',
  id: '00000000-0000-4000-8000-000000000000',
  home: '/home',
  workspace: '/tree',
  instructionsHash: '',
};
const SCHEMA = { type: 'object', properties: { never: { const: 'said' } }, required: ['never'] };
/** Recordings of turns that were completed, with an answer in words. */
const COMPLETED: Readonly<Record<Cli, readonly string[]>> = {
  claude: ['text', 'sid', 'resume', 'longtool', 'write-accept', 'agent', 'mcp-http', 'conc1', 'partial'],
  antigravity: ['text', 'tool', 'mcp'],
  codex: ['lean', 'r1', 'r2', 'bash-ww', 'longtool', 'mcp-approve', 'wt-a', 'big'],
};

const isLastWord = ({ type, event }: Line): boolean =>
  type === 'result' || type === 'turn.completed' || event === 'result';
const isAnswer = ({ type, item }: Line): boolean =>
  type === 'item.completed' && (item as Line)['type'] === 'agent_message';

type Lie = (
  lines: readonly Line[],
  random: Random,
) => { lines: readonly (Line | string)[]; more?: Partial<Transcript> };

/** The last answer in other words, whichever of the two says it. */
function withAnswer(lines: readonly Line[], text: string): Line[] {
  const last = lines.findLastIndex(isAnswer);
  return lines.map((line, index) => {
    if (index === last) return { ...line, item: { ...(line['item'] as Line), text } };
    if (line['event'] === 'result') return { ...line, result: { ...(line['result'] as Line), response: text } };
    return line['type'] === 'result' ? { ...line, result: text } : line;
  });
}

/** Ways to pretend: each makes of a completed turn one that is none, by a rule that has nothing to do with how squad reads. */
const LIES: Readonly<Record<string, Lie>> = {
  'no last word': (lines) => ({ lines: lines.filter((line) => !isLastWord(line)) }),
  'nothing but its last word': (lines) => ({ lines: withAnswer(lines.filter(isLastWord), ' ') }),
  'half a last word': (lines) => ({
    lines: lines.map((line) => (isLastWord(line) ? JSON.stringify(line).slice(0, -1) : line)),
  }),
  'a limit as the answer': (lines, random) => ({ lines: withAnswer(lines, pick(random, LIMITS)) }),
  'no answer': (lines, random) => ({ lines: withAnswer(lines, pick(random, ['', ' ', '\n\t'])) }),
  'a failing exit': (lines, random) => ({ lines, more: { code: pick(random, [1, 2, 3, 101]) } }),
  'another session': (lines) => ({ lines, more: { request: { session: SESSION } } }),
  'another shape': (lines) => ({ lines, more: { request: { outputSchema: SCHEMA } } }),
  prose: (lines, random) => ({
    lines: [pick(random, ['All done!', 'result: success', 'type=result is_error=false']), ...lines.slice(0, 1)],
  }),
  'a last word that fails': (lines) => ({
    lines: lines.map((line) => {
      if (!isLastWord(line)) return line;
      if (line['event'] === 'result') return { ...line, result: { ...(line['result'] as Line), status: 'ERROR' } };
      return line['type'] === 'result'
        ? { ...line, is_error: true }
        : { type: 'turn.failed', error: { message: 'no' } };
    }),
  }),
};

/** A completed turn, turned into a lie. */
export function lyingTranscript(random: Random): Transcript & { readonly lie: string } {
  const cli = pick<Cli>(random, ['antigravity', 'claude', 'codex']);
  const lines = objectsIn(Buffer.from(recordings(cli).get(pick(random, COMPLETED[cli])) ?? ''));
  const [name, lie] = pick(random, Object.entries(LIES));
  const told = lie(lines, random);
  const stdout = Buffer.from(
    told.lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return { cli, stdout, code: 0, ...told.more, lie: name };
}
