import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { git } from '../support/git.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { openWholeRunRoom, turnsTaken, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const BRANCH = 'squad/sums-and-products';
const RUN = ['run', 'objective.md', '--json', '--yes'];
const USER = 'Test <test@example.invalid>';
const SQUAD = 'squad <squad@squad.invalid>';

interface Case {
  readonly title: string;
  readonly author: string;
  readonly warns: string;
  readonly set: Readonly<Record<string, string>>;
  readonly unset?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    title: 'no identity',
    author: SQUAD,
    warns: `agents commit as ${SQUAD}`,
    set: { 'user.useConfigOnly': 'true' },
    unset: ['user.name', 'user.email'],
  },
  {
    title: 'a gpg key that cannot be used',
    author: USER,
    warns: 'commits by agents and squad are not signed',
    set: { 'commit.gpgSign': 'true', 'user.signingKey': '0123456789ABCDEF' },
  },
  {
    title: 'ssh signing',
    author: USER,
    warns: 'Sign what you merge, with `git merge -S`.',
    set: { 'commit.gpgSign': 'true', 'gpg.format': 'ssh', 'user.signingKey': '~/.ssh/id_ed25519.pub' },
  },
];

let room: WholeRunRoom;
afterEach(() => room.close());

describe('commits of the real claude and codex', () => {
  test.each(CASES)('with $title: delivered, unsigned, and said before', async ({ author, warns, set, unset = [] }) => {
    room = await openWholeRunRoom({ planner: 'claude', reviewer: 'codex' });
    const { engine, model } = room;
    for (const key of unset) git(engine.repository, 'config', '--unset', key);
    for (const [key, value] of Object.entries(set)) git(engine.repository, 'config', key, value);
    const config = join(engine.repository, '.git', 'config');
    const before = readFileSync(config, 'utf8');
    void room.gate.reached.then(() => room.gate.open());
    const end = await engine.run(RUN, room.environment);
    expect(end.lines.at(-1), end.stderr).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0 });
    expect(model.strange).toEqual([]);
    const warnings = end.lines.flatMap(({ type, text }) => (type === 'warning' ? [String(text)] : []));
    expect(warnings.filter((text) => text.includes(warns))).toHaveLength(1);
    const made = git(engine.repository, 'log', '--no-merges', '--format=%an <%ae>|%cn <%ce>|%G?', `main..${BRANCH}`);
    expect(made.split('\n')).toEqual(Array.from({ length: 3 }, () => `${author}|${author}|N`));
    expect(readFileSync(config, 'utf8')).toBe(before);
  });

  test.each<[Cli, string]>([
    ['claude', 'builder-1'],
    ['codex', 'builder-2'],
  ])('a builder on %s that may only read is refused before a turn is paid for', async (_, name) => {
    room = await openWholeRunRoom({ planner: 'claude', reviewer: 'codex' });
    const { engine, anthropic, openai } = room;
    const file = join(engine.repository, 'squad.yaml');
    const settings = parse(readFileSync(file, 'utf8')) as { agents: { name: string; access: string }[] };
    for (const agent of settings.agents) if (agent.name === name) agent.access = 'read-only';
    const text = stringify(settings);
    writeFileSync(file, text);
    const line = text.split('\n').findIndex((one) => one.includes(`name: ${name}`)) + 1;
    const end = await engine.run(RUN, room.environment);
    expect(end.code).toBe(65);
    const said = `${end.stdout}${end.stderr}`;
    expect(said).toContain(
      `squad.yaml:${line}: ${name} is to work as builder, and may change nothing (access: read-only)`,
    );
    expect(said).toContain(`Give ${name} \`access: edit\` in squad.yaml, or another role.`);
    expect([anthropic.requests, openai.requests]).toEqual([[], []]);
    expect(() => turnsTaken(engine)).toThrow();
  });
});
