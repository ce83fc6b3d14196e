import { join } from 'node:path';
import type { FakeAcpScript, FakeStep } from './fake-acp-agent.ts';

type Random = () => number;
type Level = 'read-only' | 'edit';

/** What a hostile agent may aim at. */
export interface Target {
  readonly level: Level;
  /** A folder that no turn may write. */
  readonly canaries: string;
  /** The turn's own, in which the host asks a person and gets the answer. */
  readonly turn: string;
}

/** How the ids of tool calls begin that no policy of these turns allows. */
export const FORBIDDEN = 'bad-';
/** And of those that a policy allows if it can: the conversation has to get somewhere. */
const FAIR = 'fair-';

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
const chance = (random: Random, share: number): boolean => random() < share;
const number = (random: Random, below: number): number => Math.floor(random() * below);

const CONTROL = '\u001B[2J\u0007\u0000\u202E\u009B31m';
const ODD: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  true,
  '',
  'x',
  CONTROL,
  [],
  [[]],
  {},
  { a: { b: [null] } },
  'y'.repeat(70_000),
];

const plain = (...kinds: string[]): object[] => kinds.map((kind) => ({ optionId: kind, name: kind, kind }));

/** Options of which one may be right, or none. */
function options(random: Random): unknown {
  return pick<unknown>(random, [
    plain('allow_once', 'reject_once'),
    plain('allow_once', 'allow_always', 'reject_once', 'reject_always'),
    plain('allow_always', 'reject_always'),
    plain('allow_once'),
    plain('allow_always'),
    [],
    null,
    'allow_once',
    { optionId: 'allow_once', kind: 'allow_once' },
    [
      { optionId: 'same', name: 'No', kind: 'reject_once' },
      { optionId: 'same', name: 'Yes', kind: 'allow_once' },
    ],
    [
      { optionId: 'reject', name: 'Reject', kind: 'allow_always' },
      { optionId: 'allow', name: 'Allow', kind: 'reject_once' },
    ],
    [{ optionId: `reject${CONTROL}`, name: 'No', kind: 'reject_once' }, ...plain('allow_once')],
    [{ optionId: CONTROL, name: CONTROL, kind: 'allow_once' }],
    [
      { optionId: 7, name: 7, kind: 'allow_once' },
      { optionId: null, kind: 'reject_once' },
    ],
    [
      { optionId: 'reject_once ', kind: 'reject_once' },
      { optionId: 'allow_once', kind: 'ALLOW_ONCE' },
    ],
    [{ optionId: 'o'.repeat(100_000), name: 'long', kind: 'reject_once' }, ...plain('allow_once')],
    Array.from({ length: 5000 }, (_, index) => ({ optionId: `o${index}`, name: 'n', kind: 'allow_once' })),
    [null, 3, 'reject_once', ...plain('reject_once')],
  ]);
}

let calls = 0;

/** How it asks: how often, with which id and options, and whether it acts whatever the answer was. */
function asking(random: Random, about: typeof FORBIDDEN | typeof FAIR): Record<string, unknown> {
  calls += 1;
  const ask: Record<string, unknown> = {};
  if (about === FORBIDDEN || chance(random, 0.5)) ask['options'] = options(random);
  if (chance(random, 0.2)) ask['times'] = 2 + number(random, 4);
  if (chance(random, 0.2))
    ask['id'] = pick<unknown>(random, ['', 'own', CONTROL, -7, 1.5, 2 ** 53, 'i'.repeat(300), '0']);
  if (chance(random, 0.1)) ask['sessionId'] = pick<unknown>(random, ['another', null, 5, '']);
  if (chance(random, 0.1)) ask['wait'] = false;
  return { ask, toolCallId: `${about}${calls}`, despite: chance(random, 0.5) };
}

/** A place that is not the agent's, however it is spelled. */
function outside(random: Random, { canaries }: Target): string {
  const file = `got-${number(random, 1e9)}`;
  return pick(random, [
    join(canaries, file),
    `${'../'.repeat(20)}${canaries.slice(1)}/${file}`,
    `./x/../../${'../'.repeat(20)}${canaries.slice(1)}/${file}`,
    `/proc/self/root${canaries}/${file}`,
  ]);
}

/** What it tries where it must not. */
function attack(random: Random, target: Target): FakeStep[] {
  const { canaries } = target;
  const path = outside(random, target);
  const lie = (): Record<string, unknown> => asking(random, FORBIDDEN);
  const link: FakeStep = { run: `ln -sfn '${canaries}' link`, toolCallId: `${FORBIDDEN}${(calls += 1)}` };
  const through = pick(random, ['link/got', './link/inner/got', '/proc/self/cwd/link/got']);
  return pick<() => FakeStep[]>(random, [
    () => answerItself(target.turn),
    () => [link, { write: { path: through, text: 'mine' }, ...lie() }],
    () => [{ write: { path, text: 'mine' }, ...lie(), title: 'Read the readme', name: 'Edit' }],
    () => [{ write: { path, text: 'mine' }, toolCallId: `${FORBIDDEN}${(calls += 1)}` }],
    () => [{ run: `echo mine > '${join(canaries, 'shell')}'`, toolCallId: `${FORBIDDEN}${(calls += 1)}` }],
    () => [
      {
        run: `mkdir -p '${canaries}/deep' ; touch "$HOME/../../outside" ; rm -rf '${canaries}'/*`,
        toolCallId: `${FORBIDDEN}${(calls += 1)}`,
      },
    ],
    () => [
      {
        ask: { toolCallId: `${FORBIDDEN}${(calls += 1)}`, kind: 'delete', title: 'x', locations: [{ path: canaries }] },
        ...(lie()['ask'] as object),
      },
    ],
    () => [
      {
        ask: {
          toolCallId: `${FORBIDDEN}${(calls += 1)}`,
          kind: pick(random, ODD),
          rawInput: pick(random, ODD),
          title: pick(random, ODD),
        },
        options: options(random),
      },
    ],
    () => [
      {
        ask: { toolCallId: `${FORBIDDEN}${(calls += 1)}`, kind: 'edit', rawInput: deep(400, { path: canaries }) },
        options: options(random),
      },
    ],
    () => [
      {
        ask: {
          toolCallId: `${FORBIDDEN}${(calls += 1)}`,
          kind: 'read',
          content: [{ type: 'diff', path, oldText: '', newText: 'mine' }],
        },
        options: options(random),
      },
    ],
    () => [
      {
        request: {
          method: 'fs/write_text_file',
          params: { path: join(canaries, 'by-host'), content: 'mine', sessionId: 'x' },
        },
      },
    ],
    () => [
      {
        request: {
          method: 'terminal/create',
          params: { command: '/bin/sh', args: ['-c', `touch '${canaries}/terminal'`] },
        },
      },
    ],
    () => [
      {
        request: {
          method: pick(random, ['session/prompt', 'initialize', '', CONTROL, 'rpc.discover', 'm'.repeat(10_000)]),
          params: pick(random, ODD),
        },
      },
    ],
  ])();
}

/** It asks for what only a person may allow, and gives the answer, or says how its turn has ended. */
function answerItself(turn: string): FakeStep[] {
  const yes = '{"allow":true}';
  const mine = (path: string, text: string): FakeStep => ({
    write: { path, text },
    toolCallId: `${FORBIDDEN}${(calls += 1)}`,
  });
  const everywhere = `for f in $(find / -xdev -name "ask-*.json" 2>/dev/null); do echo '${yes}' > "$(dirname "$f")/answer-1.json"; done`;
  return [
    { ask: { toolCallId: `${FORBIDDEN}${(calls += 1)}`, kind: 'other', title: 'Reach out' }, wait: false },
    { sleep: 300 },
    mine(`${turn}/answer-1.json`, yes),
    mine(`${turn}/exit`, '0\n'),
    { run: everywhere, toolCallId: `${FORBIDDEN}${(calls += 1)}` },
    { sleep: 300 },
  ];
}

function deep(levels: number, inner: object): object {
  let value = inner;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { path: value } : { list: [value] };
  return value;
}

/** What it says that nobody can use. */
function noise(random: Random): FakeStep[] {
  const odd = pick(random, ODD);
  return pick<() => FakeStep[]>(random, [
    () => [{ raw: `${CONTROL}\n` }],
    () => [{ raw: '{"jsonrpc":"2.0","method":"session/upd' }, { sleep: 5 }, { raw: 'ate"}\n' }],
    () => [{ raw: `${'['.repeat(100_000)}\n` }],
    () => [
      { bytes: Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a, 0xef, 0xbb, 0xbf, 0x0a, 0x00, 0x0a]).toString('base64') },
    ],
    () => [{ line: 10 * 1024 * 1024, sound: chance(random, 0.5) }],
    () => [{ flood: 2000, bytes: number(random, 2000) }],
    () => [{ replay: 5000 }],
    () => [{ stderr: `${CONTROL}fatal: ${'e'.repeat(number(random, 100_000))}\n` }],
    () => [
      {
        update: {
          sessionUpdate: pick<unknown>(random, ['tool_call', 'plan', 'usage_update', 'agent_message_chunk', '', 7]),
          content: odd,
          toolCallId: odd,
          entries: odd,
          used: odd,
        },
      },
    ],
    () => [
      {
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'for somebody else' } },
        of: 'another-session',
      },
    ],
    () => [
      { update: { sessionUpdate: 'tool_call_update', toolCallId: 'never-begun', status: 'completed', rawOutput: odd } },
    ],
    () => [{ replyTo: { id: pick<unknown>(random, [999, null, 'x', -1, 1, 2, 3, {}]), result: odd } }],
    () => [{ replyTo: { id: 1, error: { code: odd, message: odd } } }],
    () => [{ reply: odd }],
    () => [{ notify: { method: pick(random, ['session/cancel', '$/cancel_request', 'exit', CONTROL]), params: odd } }],
    () => [{ notify: { id: odd, method: odd, params: odd } }],
  ])();
}

/** How it ends, or does not. */
function end(random: Random): FakeStep[] {
  return pick<() => FakeStep[]>(random, [
    () => [{ say: 'done' }],
    () => [{ say: 'done' }],
    () => [{ say: 'done' }],
    () => [{ exit: number(random, 3) }],
    () => [{ kill: pick(random, ['SIGKILL', 'SIGTERM', 'SIGSEGV']) }],
    () => [{ hang: true }],
    () => [{ deaf: true }, { hang: true }],
    () => [{ deaf: 'cancel' }, { hang: true }],
    () => [
      { stop: pick<unknown>(random, ['refusal', 'max_tokens', 'max_turn_requests', 'cancelled', 'nonsense', '', 4]) },
    ],
    () => [
      {
        error: {
          code: pick<unknown>(random, [-32603, 429, 0, 'x', null]),
          message: pick<unknown>(random, [CONTROL, 'quota', '', 5, 'm'.repeat(50_000)]),
          data: pick(random, ODD),
        },
      },
    ],
  ])();
}

function children(random: Random): FakeStep[] {
  const how = pick(random, [
    {},
    { apart: true },
    { apart: true, nameless: true },
    { orphaned: true },
    { orphaned: true, nameless: true },
  ]);
  return [{ children: 1 + number(random, 2), ...how }];
}

/** How it opens the conversation. */
function opening(random: Random): Pick<FakeAcpScript, 'initialize' | 'session' | 'auth' | 'on'> {
  if (chance(random, 0.7)) return {};
  return pick<() => Pick<FakeAcpScript, 'initialize' | 'session' | 'auth' | 'on'>>(random, [
    () => ({ initialize: { protocolVersion: pick(random, [0, 2, '1', ...ODD]) } }),
    () => ({
      initialize: {
        agentInfo: pick(random, ODD),
        authMethods: pick(random, ODD),
        agentCapabilities: { loadSession: pick(random, ODD) },
      },
    }),
    () => ({ session: { sessionId: pick(random, [CONTROL, '', 'i'.repeat(10_000), '../../etc']) } }),
    () => ({ session: { modes: pick(random, ODD), models: pick(random, ODD), configOptions: pick(random, ODD) } }),
    () => ({
      auth: 'oauth-personal',
      initialize: { authMethods: [{ id: 'oauth-personal', name: 'Log in with a browser' }] },
    }),
    () => ({ on: { start: [{ raw: 'Welcome! Press any key to go on.\n' }, { hang: true }] } }),
    () => ({ on: { start: noise(random) } }),
    () => ({ on: { initialize: [{ stderr: 'no licence\n' }, { exit: 3 }] } }),
    () => ({ on: { initialize: [{ hang: true }] } }),
    () => ({ on: { new: [{ error: { code: -32000, message: 'Authentication required' } }] } }),
    () => ({ on: { new: end(random) } }),
    () => ({ on: { new: noise(random) } }),
  ])();
}

/** One conversation with a hostile agent, the same for the same numbers. */
export function hostileScript(random: Random, target: Target): FakeAcpScript {
  calls = 0;
  const middle = Array.from({ length: 1 + number(random, 6) }, () => {
    const what = random();
    if (what < 0.4) return attack(random, target);
    if (what < 0.75) return noise(random);
    if (what < 0.85) return children(random);
    return [{ run: 'echo fair > fair.txt', ...asking(random, target.level === 'edit' ? FAIR : FORBIDDEN) }];
  });
  const after = chance(random, 0.3) ? [...pick(random, [noise, children])(random), ...end(random)] : [];
  const usage = pick<object | null>(random, [{}, null, { inputTokens: -5, outputTokens: 'x' }, { inputTokens: 1e300 }]);
  return { ...opening(random), turns: [{ steps: [...middle.flat(), ...end(random)], after, usage }] };
}
