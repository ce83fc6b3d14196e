// @module-tag all
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formsOf } from '../../src/model/redaction/secret-values.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, waitFor } from '../runs/run-script.ts';
import type { Finished } from '../support/engine.ts';
import { readKept } from '../support/kept-file.ts';
import { stateOf } from '../support/state.ts';

/* The next morning: the engine had a secret that the shell in which somebody looks does not have. */

const SECRET = 'k4n4r13n/"vogel"+7%2F';
const SPOKEN = [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64'), JSON.stringify(SECRET)];
const ENGINE = { SQUAD_TEST_CANARY: SECRET };
/** A shell without it. */
const OTHER = { LANG: 'C.UTF-8' };

const SETTINGS = {
  agents: [
    { name: 'pia', role: 'planner', runtime: 'scripted', access: 'read-only' },
    { name: 'bob', role: 'builder', runtime: 'scripted', env: ['SQUAD_TEST_CANARY'] },
    { name: 'rex', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
  ],
};

let bench: RunBench;

beforeAll(() => {
  const loud = SPOKEN.join(' ');
  bench = openRunBench({ script: [], settings: SETTINGS });
  bench.rescript([
    plan([piece('one')]),
    author('one', [
      { say: `says {env:SQUAD_TEST_CANARY} ${loud}` },
      { think: loud },
      { run: ['/bin/sh', '-c', 'printf "%s " "$SQUAD_TEST_CANARY"; printf "%s" "$SQUAD_TEST_CANARY" | base64 -w0'] },
      { deny: loud },
      { retry: { kind: 'overloaded', message: loud } },
      { stderr: loud },
      waitFor(join(bench.root, 'go')),
      { say: loud },
      ...commits({ 'one.txt': 'one\n' }).slice(0, -1),
      { answer: `done {env:SQUAD_TEST_CANARY} ${loud}` },
    ]),
    APPROVE_ALL,
  ]);
});
afterAll(() => bench.end());

function leaksOf(text: string): string[] {
  return [...SPOKEN, ...formsOf(SECRET)].filter((form) => text.includes(form));
}

const turns = (): string => join(stateOf(bench.repository), 'turns');
const folderOf = (task: string): string => {
  const name = readdirSync(turns()).find((one) => one.includes(`.${task}-1`));
  return join(turns(), name ?? '');
};

describe('S9: a turn, read in another shell than that of its engine', { timeout: 90_000 }, () => {
  let finished: Finished;

  it('S9: its engine is killed, and the one that adopts it knows no secret: its ledger and its output have none', async () => {
    const first = bench.startRun([], ENGINE);
    await first.line(({ type, tool, task }) => type === 'tool-started' && tool === 'run' && task === 'one');
    // What the second engine reads again has all of it.
    await expect.poll(() => leaksOf(readFileSync(join(folderOf('one'), 'stdout'), 'utf8')).length).toBeGreaterThan(3);
    first.child.kill('SIGKILL');
    await first.finished;
    const second = bench.start(['resume', '--json'], OTHER);
    await second.line(({ type }) => type === 'attempt-taken');
    writeFileSync(join(bench.root, 'go'), '');
    finished = await second.finished;
    expect([finished.code, leaksOf(finished.stdout), finished.stdout.includes('[redacted]')]).toEqual([0, [], true]);
    const kept = readdirSync(stateOf(bench.repository), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.startsWith(turns()));
    expect(kept.filter((path) => leaksOf(readKept(path)).length > 0)).toEqual([]);
  });

  it('S9: no command prints it', async () => {
    const commands = [
      ...['show', 'show one', 'show one --json', 'show one-1', 'show one-1 --json', 'log', 'log --json', 'log --raw'],
      ...['report', 'status --json', 'watch --json', 'mail trace --json', 'db export'],
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await bench.run(command.split(' '));
      expect.soft([code, leaksOf(stdout + stderr)], command).toEqual([0, []]);
      if (command.startsWith('show one')) expect.soft(stdout, command).toContain('[redacted]');
    }
  });

  it('S9: the fingerprints are this user’s alone, and without them squad says no less than it did', async () => {
    const path = join(folderOf('one'), 'secrets.json');
    expect([statSync(path).mode & 0o777, leaksOf(readFileSync(path, 'utf8'))]).toEqual([0o600, []]);
    for (const damage of ['', '{', '{"salt":"x","marks":[[1]]}']) {
      writeFileSync(path, damage);
      expect(await bench.run(['show', 'one-1', '--json'], ENGINE)).toMatchObject({ code: 0, stderr: '' });
    }
    rmSync(path);
    const same = await bench.run(['show', 'one-1', '--json'], ENGINE);
    expect([same.code, leaksOf(same.stdout)]).toEqual([0, []]);
  });
});
