import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { eventually } from '../support/tmux.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { planned, reviewed, type ScriptedTurn } from './turn-scripts.ts';
import { openModelRoom, runtimesAt, type WholeRunRoom } from './whole-run-room.ts';

const OBJECTIVE = `# Objective: A word

## Goals

1. word.txt has a word

## Success Criteria

- [ ] It is there (run: test -s word.txt)
`;
const TASK = {
  ...{ id: 'word', title: 'Write a word', brief: 'Write a word into word.txt and commit it.' },
  ...{ files: ['word.txt'], acceptance: ['there is one'] },
};
const TURNS: readonly ScriptedTurn[] = [
  { name: 'plan', when: /Split this objective/, acts: [planned('One.', [TASK])] },
  { name: 'review', when: /# .*[Rr]eview/, acts: [reviewed()] },
  {
    name: 'build',
    when: /# Task word:/,
    acts: [
      { act: 'shell', command: 'echo word > word.txt && git add -A && git commit -q -m "Write a word"' },
      { act: 'say', text: 'Written.' },
    ],
  },
];

let room: WholeRunRoom | undefined;
afterEach(() => room?.close());

it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined)(
  'squad serve works through the queue with the real claude and codex, and two squad run beside it end as alone',
  { timeout: 280_000 },
  async () => {
    const agent = (name: string, role: string, more: object) => ({ name, role, ...more });
    room = await openModelRoom({
      files: { 'objective.md': OBJECTIVE },
      turns: () => TURNS,
      settings: (baseUrl) => ({
        version: 1,
        agents: [
          agent('planner', 'planner', { runtime: 'claude', access: 'read-only' }),
          agent('builder', 'builder', { runtime: 'codex', model: PLAIN_MODEL, access: 'edit' }),
          agent('reviewer', 'reviewer', { runtime: 'claude', access: 'read-only' }),
        ],
        runtimes: runtimesAt(baseUrl),
      }),
    });
    const { engine, environment, model } = room;
    const objective = (command: string, name: string): string[] => [
      ...[command, 'objective.md', '--yes', '--json', '--name', name],
    ];
    const states = async (): Promise<Record<string, unknown>> => {
      const { lines } = await engine.run(['runs', '--json'], environment);
      return Object.fromEntries(lines.map(({ name, state }) => [name, state]));
    };
    const served = await engine.run(['serve', '--detach', '--json'], environment);
    expect(served.code, served.stderr).toBe(0);
    try {
      expect((await engine.run(objective('add', 'added'), environment)).code).toBe(0);
      const terminals = ['first', 'second'].map((name) => engine.start(objective('run', name), environment).finished);
      for (const { code, lines, stderr } of await Promise.all(terminals)) {
        expect(code, stderr).toBe(0);
        expect(lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' });
      }
      await eventually(
        'the run of the queue',
        async () => ((await states())['added'] === 'done' ? true : undefined),
        90,
      );
    } finally {
      const stopped = await engine.run(['serve', 'stop', '--json'], environment);
      expect(stopped.code, stopped.stderr).toBe(0);
    }
    expect(await states()).toEqual({ added: 'done', first: 'done', second: 'done' });
    for (const name of ['added', 'first', 'second'])
      expect(git(engine.repository, 'show', `squad/${name}:word.txt`)).toBe('word');
    expect(model.strange).toEqual([]);
    // No turn ran twice.
    expect(model.asked.filter((one) => one.endsWith(' 0')).toSorted()).toEqual(
      ['build 0', 'plan 0', 'review 0'].flatMap((one) => [one, one, one]),
    );
    expect(existsSync(join(engine.repository, 'word.txt'))).toBe(false);
  },
);
