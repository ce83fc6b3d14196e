import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { workers } from '../support/session-folder.ts';
import type { Finished } from '../support/engine.ts';
import { COUNCIL_AGENTS, COUNCIL_FILES, COUNCIL_OBJECTIVE, councilScript } from './council-script.ts';
import { thirteen } from './objective-script.ts';
import { openRunBench, startsOf, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, waitFor, type Entry } from './run-script.ts';
import { openSessionBench, PAIR } from './session-bench.ts';

type Settings = Readonly<Record<string, unknown>>;
type Test = { onTestFinished: (end: () => void) => void };

const ONE: readonly Entry[] = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' }))];
const PACKAGE = { 'package.json': '{ "name": "x", "scripts": { "t": "nosuchprogram" } }\n' };

/** A command that is missing, and what the program that should run it says. */
const KINDS = [
  ['npm run nope', 'Missing script: "nope"'],
  ['npm run t', 'nosuchprogram: not found'],
  ['nosuchprogram --fix', 'nosuchprogram: not found'],
  ['./package.json', 'Permission denied'],
  ['sh nope.sh', 'cannot open nope.sh'],
] as const;

const STAGES = {
  stages: [
    {
      id: 'PLAN',
      by: ['lead'],
      brief: '{objective}',
      makes: { document: 'plan.md', headings: ['Tasks'], answer: 'tasks' },
    },
    { id: 'BUILD', by: ['builder'], brief: 'Build it.', makes: 'code', each: { of: 'PLAN' } },
  ],
};
const OWN = ['lead', 'builder'].map((role) => ({ name: role, role, runtime: 'scripted' }));
const PLANNED: Entry = {
  ...author('plan', commits({ 'docs/squad/make-things/plan.md': '# Tasks\n\nOne file.\n' })),
  structured: { tasks: [{ ...piece('a'), paths: ['a.txt'] }] },
};

/** By playbook: a run with these settings besides its own, to its end. */
const RUNS = {
  delivery: async (test: Test, settings: Settings) =>
    ran(test, { script: [...ONE, APPROVE_ALL], settings, files: PACKAGE }),
  objective: async (test: Test, settings: Settings) =>
    ran(test, {
      script: thirteen([], [{ id: 'left', paths: ['left.txt'] }]),
      settings: { playbook: 'objective', ...settings },
      files: PACKAGE,
    }),
  council: async (test: Test, settings: Settings) =>
    ran(test, {
      script: councilScript(),
      settings: { playbook: 'council', agents: COUNCIL_AGENTS, ...settings },
      objective: COUNCIL_OBJECTIVE,
      files: { ...COUNCIL_FILES, ...PACKAGE },
    }),
  'own list': async (test: Test, settings: Settings) =>
    ran(test, {
      script: [PLANNED, ...ONE.slice(1)],
      settings: { playbook: STAGES, agents: OWN, ...settings },
      files: PACKAGE,
    }),
  session: async (test: Test, settings: Settings) => {
    const bench = openSessionBench(test, PAIR, workers(PAIR));
    // A session's repository has no package.
    bench.settings(settings);
    return [bench, await bench.play(['--json'])] as const;
  },
};

async function ran(test: Test, about: Parameters<typeof openRunBench>[0]): Promise<readonly [RunBench, Finished]> {
  const bench = openRunBench(about);
  test.onTestFinished(() => bench.end());
  return [bench, await bench.runAll()];
}

const PLAYBOOKS = ['delivery', 'objective', 'council', 'own list', 'session'] as const;

/** Each kind of missing command in each playbook. The repository of a session has no package. */
const cases = KINDS.flatMap(([command, words]) =>
  PLAYBOOKS.flatMap((playbook) =>
    (['setup', 'verify'] as const).map((purpose) => ({ playbook, purpose, command, words })),
  ),
).filter(({ playbook, command }) => playbook !== 'session' || !/npm|json/.test(command));

describe('a command that cannot run', { ...SPREAD, timeout: 600_000 }, () => {
  it.for(some(cases, 2))('is what a person reads first: $purpose `$command` in $playbook', async (row, test) => {
    const { playbook, purpose, command, words } = row;
    const [bench, ended] = await RUNS[playbook](test, { [purpose]: [{ run: command }] });
    const last = ended.lines.at(-1) as { headline: string; questions: { text: string }[] };
    expect([ended.code, last.questions.length], ended.stderr + JSON.stringify(last)).toEqual([3, 1]);
    const [status, report] = [(await bench.run(['status'])).stdout, await bench.report()];
    for (const text of [last.headline, last.questions[0]?.text ?? '', status, report.replaceAll(/\\(.)/g, '$1')]) {
      expect(text).toContain(`\`${command}\``);
      expect(text).toContain(words);
    }
    expect(startsOf(ended).length).toBeLessThanOrEqual(purpose === 'setup' ? 0 : 3);
  });
});

describe('a verify that is not run on the base', { ...ALL, timeout: 300_000 }, () => {
  it('is the first cause of a task whose author then did nothing, with the command that corrects it', async (test) => {
    const [bench, ended] = await ran(test, {
      script: [
        ...ONE,
        again('a', 'verify', [{ answer: 'I changed nothing' }]),
        again('a', 'evidence', [{ answer: 'still nothing' }]),
        { when: 'The operator wants you to try task a again', steps: [{ answer: 'it is as it should be' }] },
        APPROVE_ALL,
      ],
      settings: { baseline: 'off', verify: [{ run: 'npm run nope' }] },
      files: PACKAGE,
    });
    const last = ended.lines.at(-1) as { headline: string; next: string[] };
    expect(last.headline).toMatch(
      /^FAILED, a: `npm run nope` exited with 1: npm error Missing script: "nope"; after that: nothing was changed since [0-9a-f]{12} was sent back$/,
    );
    expect(last.next[0]).toBe('squad retry a --run make-things && squad resume make-things --reload');
    bench.settings({ baseline: 'off', verify: [{ run: 'true' }] });
    expect((await bench.run(['retry', 'a', '--run', 'make-things'])).code).toBe(0);
    const resumed = await bench.run(['resume', 'make-things', '--reload', '--yes', '--json']);
    expect(resumed.lines.at(-1), resumed.stderr).toMatchObject({ outcome: 'done' });
  });
});

describe('the check of the base commit', { timeout: 300_000 }, () => {
  it('holds the run until the settings are corrected, and then the run goes on', ALL, async (test) => {
    const [bench, ended] = await RUNS.delivery(test, { verify: [{ run: 'npm run nope' }] });
    expect(ended.code).toBe(3);
    bench.settings({ verify: [{ run: 'test -f a.txt' }] });
    const resumed = await bench.run(['resume', '--reload', '--yes', '--json']);
    expect(resumed.lines.at(-1), resumed.stderr).toMatchObject({
      headline: 'DONE, all work is delivered and verified',
      baseline: ['`test -f a.txt` was red before the work (verify exited with 1: (no output)) and is green now'],
    });
  });

  it('is left out of the run where a person says so, and the last word says it', ALL, async (test) => {
    const [bench, ended] = await RUNS.delivery(test, { verify: [{ run: 'npm run nope' }] });
    expect(ended.code).toBe(3);
    expect((await bench.run(['answer', 'go on without it'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.lines.at(-1), resumed.stderr).toMatchObject({
      headline: expect.stringMatching(/^DONE, left out by \S+: `npm run nope`$/),
      exitCode: 0,
    });
  });

  it('holds up neither tasks nor the end of the run, and nothing of it is left', async (test) => {
    const [bench, ended] = await RUNS.delivery(test, { verify: [{ run: 'test -f a.txt || sleep 600' }] });
    expect(ended.lines.at(-1), ended.stderr).toMatchObject({ headline: 'DONE, all work is delivered and verified' });
    expect(bench.alive()).toEqual([]);
  });

  it('is continued by the next engine after a kill, and runs once', ALL, async (test) => {
    const bench = openRunBench({ script: [...ONE, APPROVE_ALL] });
    test.onTestFinished(() => bench.end());
    const [log, gate] = [join(bench.root, 'checked'), join(bench.root, 'gate')];
    const wait = `until test -e '${gate}'; do sleep 0.05; done`;
    bench.settings({ verify: [{ run: `test -f a.txt || { echo checked >> '${log}'; ${wait}; echo red; false; }` }] });
    bench.rescript([
      { ...plan([piece('a')]), steps: [waitFor(gate), { answer: 'planned' }] },
      ...ONE.slice(1),
      APPROVE_ALL,
    ]);
    const first = bench.startRun();
    while (!existsSync(log)) await new Promise((resolve) => setTimeout(resolve, 20));
    first.child.kill('SIGKILL');
    await first.finished;
    writeFileSync(gate, '');
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.lines.at(-1), resumed.stderr).toMatchObject({ outcome: 'done' });
    expect(readFileSync(log, 'utf8')).toBe('checked\n');
  });
});
