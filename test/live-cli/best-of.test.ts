import { afterEach, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import { git } from '../support/git.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import type { Act, Asked, ScriptedTurn } from './turn-scripts.ts';
import { openModelRoom, processesOf, runtimesAt, turnsTaken, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);

const OBJECTIVE = `# Objective: A sum

## Goals

1. sum.mjs exports sum(a, b)

## Success Criteria

- [ ] It is right (run: node check.mjs)
`;
const CHECK = `const { sum } = await import(new URL('sum.mjs', import.meta.url));
if (sum(2, 3) !== 5) throw new Error('the sum is wrong');
`;
const RIGHT = 'export const sum = (a, b) => a + b;\n';
const SHORT = 'export const sum = (...all) => all.reduce((a, b) => a + b);\n';
const WRONG = 'export const sum = (a, b) => a - b;\n';

const shell = (command: string): Act => ({ act: 'shell', command });

/** A try whose author writes this, and after a failed check writes it again with a comment. */
function tryOf(number: number, text: string): ScriptedTurn[] {
  const turn = (name: string, when: RegExp, written: string): ScriptedTurn => ({
    name,
    when,
    acts: [
      { act: 'write', path: 'sum.mjs', text: written },
      shell('git add -A && git commit -q -m "Add sum: the objective asks for it"'),
      { act: 'say', text: 'sum is written and committed.' },
    ],
  });
  return [
    turn(`again ${number}`, new RegExp(`You said that task try-${number} is done`), `${text}// It was looked at.\n`),
    turn(`try ${number}`, new RegExp(`# Task try-${number}:`), text),
  ];
}

/** The judge sees each change with the command that it was given, in its own shell, and takes what it cannot see for nothing. */
const JUDGE: ScriptedTurn = {
  name: 'choose',
  when: /Choose the work that is delivered/,
  acts: [
    ({ prompt }) => shell([...prompt.matchAll(/- try-\d: `([^`]+)`/g)].map(([, command]) => command).join('; ')),
    ({ outputs, prompt }: Asked): Act => {
      const isSeen = [RIGHT, SHORT].every((text) => outputs.join('\n').includes(`+${text.trim()}`));
      const [last = ''] = [...prompt.matchAll(/- (try-\d): `/g)].slice(-1).map(([, id]) => id ?? '');
      return { act: 'answer', value: { choice: isSeen ? last : 'none', why: 'It takes any number of them.' } };
    },
  ],
};

let room: WholeRunRoom;
afterEach(() => room.close());

/** Builders on both CLIs, and a reviewer. */
async function openRoom(reviewer: Cli, texts: readonly string[]): Promise<void> {
  const agent = (name: string, role: string, runtime: Cli, access = 'edit') => ({
    ...{ name, role, runtime, access },
    ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}),
  });
  room = await openModelRoom({
    files: { 'objective.md': OBJECTIVE, 'check.mjs': CHECK },
    turns: () => [...texts.flatMap((text, index) => tryOf(index + 1, text)), JUDGE],
    settings: (baseUrl) => ({
      version: 1,
      agents: [
        agent('builder-1', 'builder', 'claude'),
        agent('builder-2', 'builder', 'codex'),
        agent('reviewer', 'reviewer', reviewer, 'read-only'),
      ],
      runtimes: runtimesAt(baseUrl),
      verify: [{ run: 'node check.mjs', minutes: 1 }],
    }),
  });
}

async function bestOf(): Promise<RunStatus> {
  const { engine, environment, model } = room;
  const { code, stderr } = await engine.run(['best-of', '3', 'objective.md', '--json', '--yes'], environment);
  expect([code, model.strange], stderr).toEqual([0, []]);
  const { stdout } = await engine.run(['status', '--json'], environment);
  expect((await processesOf(engine.root)).filter((one) => /squad\/turns|live-/.test(one))).toEqual([]);
  return JSON.parse(stdout) as RunStatus;
}

const delivered = (): string => git(room.engine.repository, 'show', 'squad/a-sum:sum.mjs');
const authors = (): string[] =>
  turnsTaken(room.engine)
    .map(({ attempt: { taskId, runtime } }) => `${taskId} on ${runtime}`)
    .toSorted();

describe('squad best-of with the real claude and codex', () => {
  test('delivers the one of three that passes', async () => {
    await openRoom('claude', [WRONG, RIGHT, WRONG]);
    const { headline } = await bestOf();
    expect(headline).toContain('try-2 of 3 was delivered: try-1 failed; try-3 failed; no other try could be delivered');
    expect(delivered()).toBe(RIGHT.trim());
    const both = (task: string) => [task, task].map((one) => `${one} on claude`);
    expect(authors()).toEqual([...both('try-1'), 'try-2 on codex', ...both('try-3')]);
    const kept = git(room.engine.repository, 'for-each-ref', '--format=%(refname)', 'refs/squad/a-sum');
    expect(kept).toMatch(/try-1-2\b[^]*try-3-2\b/);
  });

  test.each<Cli>(['claude', 'codex'])('%s compares two that pass, and chooses one', async (reviewer) => {
    await openRoom(reviewer, [WRONG, RIGHT, SHORT]);
    const { headline } = await bestOf();
    expect(headline).toContain(
      'try-3 of 3 was delivered: try-1 failed; try-2 was not chosen; reviewer chose it: It takes any number of them.',
    );
    expect(delivered()).toBe(SHORT.trim());
    expect(authors()).toContain(`choose on ${reviewer}`);
    const { stdout } = await room.engine.run(['diff', 'a-sum', 'try-2'], room.environment);
    expect(stdout).toContain(`+${RIGHT.trim()}`);
  });
});
