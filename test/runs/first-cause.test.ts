// @module-tag all
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL, SPREAD, some } from '../support/lane.ts';
import { workers } from '../support/session-folder.ts';
import type { Finished } from '../support/engine.ts';
import { COUNCIL_AGENTS, COUNCIL_FILES, COUNCIL_OBJECTIVE, councilScript } from './council-script.ts';
import { thirteen } from './objective-script.ts';
import { openRunBench, startsOf, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, objective, piece, plan, waitFor, type Entry } from './run-script.ts';
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
    { id: 'CHECK', by: ['builder'], brief: 'Run the commands.', makes: { checks: 'criteria' } },
  ],
};
const OWN = ['lead', 'builder'].map((role) => ({ name: role, role, runtime: 'scripted' }));
// The list says whose they are.
const { role: _role, ...ownPiece } = piece('a');
const PLANNED: Entry = {
  ...author('plan', commits({ 'docs/squad/make-things/plan.md': '# Tasks\n\nOne file.\n' })),
  structured: { tasks: [{ ...ownPiece, paths: ['a.txt'] }] },
};

/** By playbook: a run with these settings besides its own, to its end. */
const RUNS = {
  delivery: async (test: Test, settings: Settings, text?: string) =>
    ran(test, { script: [...ONE, APPROVE_ALL], settings, files: PACKAGE, ...objectiveOf(text) }),
  objective: async (test: Test, settings: Settings, text?: string) =>
    ran(test, {
      ...objectiveOf(text),
      script: thirteen([], [{ id: 'left', paths: ['left.txt'] }]),
      settings: { playbook: 'objective', ...settings },
      files: PACKAGE,
    }),
  council: async (test: Test, settings: Settings, text = COUNCIL_OBJECTIVE) =>
    ran(test, {
      script: councilScript(),
      settings: { playbook: 'council', agents: COUNCIL_AGENTS, ...settings },
      objective: text,
      files: { ...COUNCIL_FILES, ...PACKAGE },
    }),
  'own list': async (test: Test, settings: Settings, text?: string) =>
    ran(test, {
      ...objectiveOf(text),
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

function objectiveOf(text: string | undefined) {
  return text === undefined ? {} : { objective: text };
}

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
  it.for(some(cases, 0, 2))('is what a person reads first: $purpose `$command` in $playbook', async (row, test) => {
    const { playbook, purpose, command, words } = row;
    const [bench, ended] = await RUNS[playbook](test, { [purpose]: [{ run: command }] });
    const last = ended.lines.at(-1) as { headline: string; questions: { text: string }[] };
    expect([ended.code, last.questions.length], ended.stderr + JSON.stringify(last)).toEqual([3, 1]);
    const [status, report] = [(await bench.run(['status'])).stdout, await bench.report()];
    for (const text of [last.headline, last.questions[0]?.text ?? '', status, report.replaceAll(/\\(.)/g, '$1')]) {
      expect(text).toContain(`\`${command}\``);
      expect(text).toContain(words);
    }
    // Reviewers of a council start at once.
    expect(startsOf(ended).length).toBeLessThanOrEqual(purpose === 'setup' ? 0 : playbook === 'council' ? 5 : 3);
  });
});

/** With what the council's script does. */
function withCriterion(command: string, more: readonly string[] = []): string {
  return objective({ criteria: [`it is checked (run: \`${command}\`)`, ...more] }).replace(
    'Things that were not there before',
    'docs/design.md says how the router tries again, and it does so',
  );
}

/** A session takes its criteria from the objective that it was made for. */
const criterionCases = KINDS.flatMap(([command, words]) =>
  (['delivery', 'objective', 'council', 'own list'] as const).map((playbook) => ({ playbook, command, words })),
);

describe('a criterion whose command cannot run', { ...SPREAD, timeout: 600_000 }, () => {
  it.for(some(criterionCases, 0, 2))('is charged to no author: `$command` in $playbook', async (row, test) => {
    const { playbook, command, words } = row;
    const [bench, ended] = await RUNS[playbook](test, {}, withCriterion(command, ['it is there (run: `true`)']));
    const first = ended.lines.at(-1) as { headline: string; questions: { text: string }[] };
    // What no work of the run can make is asked about before tasks start.
    const isAsked = command.startsWith('nosuchprogram');
    expect([ended.code, first.questions.length], ended.stderr + JSON.stringify(first)).toEqual(
      isAsked ? [3, 1] : [0, 0],
    );
    if (isAsked) {
      const text = first.questions[0]?.text ?? '';
      for (const part of [`\`${command}\``, words, 'objective.md', '`squad resume --reload`'])
        expect(text).toContain(part);
      // Reviewers of a council start at once.
      expect(startsOf(ended).length).toBeLessThanOrEqual(5);
      expect((await bench.run(['answer', 'keep it'])).code).toBe(0);
    } else {
      const warnings = ended.lines.flatMap(({ type, text }) => (type === 'warning' ? [String(text)] : []));
      expect(warnings).toEqual([expect.stringContaining('cannot run yet: criterion: ')]);
    }
    const last = isAsked ? await bench.run(['resume', '--json']) : ended;
    expect(last.lines.at(-1), last.stderr).toMatchObject({ outcome: 'done', exitCode: 0 });
    const [status, report] = [await bench.status(), (await bench.report()).replaceAll(/\\(.)/g, '$1')];
    expect(status.headline).toMatch(/^DONE, 1 of 2 criteria not checked; cannot run `/);
    expect(status.criteria.map(({ state }) => state)).toEqual(['not-checked', 'met']);
    const evidence = status.criteria[0]?.evidence ?? '';
    for (const said of [evidence, status.headline ?? '', report]) {
      expect(said).toContain(`\`${command}\``);
      expect(said).toContain(words);
    }
    // No author was asked for a repair.
    expect(status.tasks.filter(({ id }) => id.startsWith('fix'))).toEqual([]);
  });

  const asked = 'nosuchprogram --all';

  it('runs once it is corrected in its file', async (test) => {
    const [bench, ended] = await RUNS.delivery(test, {}, withCriterion(asked));
    expect(ended.code).toBe(3);
    bench.objective(withCriterion('test -f a.txt'));
    // Others may not run it unasked.
    const refused = await bench.run(['resume', '--reload', '--json']);
    expect([
      refused.code,
      refused.stderr.includes('objective.md:') || refused.stdout.includes('objective.md:'),
    ]).toEqual([78, true]);
    const resumed = await bench.run(['resume', '--reload', '--yes', '--json']);
    expect(resumed.stderr).toContain('From the objective: criterion “it is checked”: `test -f a.txt`');
    expect(resumed.lines.at(-1), resumed.stderr).toMatchObject({
      headline: 'DONE, all work is delivered and verified',
    });
    expect(await bench.report()).toContain('criteria: test -f a.txt');
  });

  it('is left out where a person says so', ALL, async (test) => {
    const [bench, ended] = await RUNS.delivery(test, {}, withCriterion(asked));
    expect(ended.code).toBe(3);
    expect((await bench.run(['answer', 'go on without it'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.lines.at(-1), resumed.stderr).toMatchObject({
      headline: expect.stringMatching(/^DONE, 1 of 1 criterion not checked; left out by \S+: `nosuchprogram --all`$/),
      exitCode: 0,
    });
  });

  it('counts once the work has made what it lacks', ALL, async (test) => {
    const script = [
      plan([piece('a')]),
      author('a', commits({ 'a.txt': 'a\n', 'check.sh': 'test -f a.txt\n' })),
      APPROVE_ALL,
    ];
    const [, ended] = await ran(test, { script, objective: withCriterion('sh check.sh') });
    expect(ended.lines.at(-1), ended.stderr).toMatchObject({
      headline: 'DONE, all work is delivered and verified',
      baseline: [expect.stringMatching(/^`sh check.sh` was red before the work .* and is green now$/)],
    });
  });

  it('is the work’s own fault where it could run before', ALL, async (test) => {
    const script = [
      plan([piece('a')]),
      author('a', [{ run: ['git', 'rm', '-q', 'check.sh'] }, ...commits({ 'a.txt': 'a\n' })]),
      { when: '# Task fix-', steps: commits({ 'check.sh': 'true\n' }) },
      APPROVE_ALL,
    ];
    const files = { 'check.sh': 'true\n' };
    const [bench, ended] = await ran(test, { script, files, objective: withCriterion('sh check.sh') });
    expect(ended.lines.at(-1), ended.stderr).toMatchObject({ headline: 'DONE, all work is delivered and verified' });
    expect((await bench.status()).tasks.map(({ id }) => id)).toContain('fix-1');
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
