// @module-tag all
import { describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { answers, COUNCIL_AGENTS, COUNCIL_FILES, COUNCIL_OBJECTIVE, councilScript } from './council-script.ts';
import { openRunBench, startsOf, statusOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, judges, objective, piece, plan, type Entry } from './run-script.ts';
import { ALL, NIGHT, some } from '../support/lane.ts';

type Test = { onTestFinished: (end: () => void) => void };
type About = Parameters<typeof openRunBench>[0];

const made = (id: string): Entry => author(id, commits({ [`${id}.txt`]: `${id}\n` }));
const ONE = [plan([piece('a')]), made('a')];
const ALPHA = [plan([piece('alpha')]), made('alpha')];
const REPAIR = 'C1: the judged commit has no file nowhere.txt';
const UNCHECKED = objective({ criteria: ['it is nice'] });
const BUILDER = { name: 'builder', role: 'builder', runtime: 'scripted' };
const VERIFIED = 'DONE, all work is delivered and verified';

function benchFor({ onTestFinished }: Test, about: About): RunBench {
  const bench = openRunBench({ ...about, script: [...about.script, APPROVE_ALL] });
  onTestFinished(() => bench.end());
  return bench;
}

/** What every surface says of a run that is over: they have to agree. */
async function expectEnd(bench: RunBench, ended: Finished, code: number, headline: string): Promise<RunStatus> {
  const last = ended.lines.at(-1);
  const [status, report, screen] = await Promise.all([bench.status(), bench.report(), bench.run(['status'])]);
  const outcome = headline.startsWith('DONE') ? 'done' : 'failed';
  expect([ended.code, last], ended.stderr).toEqual([
    code,
    expect.objectContaining({ type: 'run-ended', outcome, headline, exitCode: code }),
  ]);
  expect(status).toMatchObject({ phase: 'finished', outcome, headline, exitCode: code });
  expect(report).toContain(`**${headline}.**`);
  expect(report).toContain(`Exit code ${code}: `);
  expect(screen.stdout).toContain(headline);
  return status;
}

describe.concurrent('criteria without a command', { timeout: 300_000 }, () => {
  it(
    'are not checked where everybody wrote some of the work, and that is no exit 0 with --strict',
    ALL,
    async (test) => {
      const bench = benchFor(test, { script: ONE, objective: UNCHECKED, settings: { agents: [BUILDER] } });
      const headline = 'DONE, 1 of 1 criterion not checked';
      const status = await expectEnd(bench, await bench.runAll(), 0, headline);
      expect(status.criteria).toEqual([{ text: 'it is nice', state: 'not-checked', by: null, evidence: null }]);
      await expectEnd(bench, await bench.runAll(['--strict', '--name', 'strict']), 1, headline);
    },
  );

  it('are judged by a reviewer who wrote none of it, with a command that squad saw it run', ALL, async (test) => {
    const bench = benchFor(test, { script: [...ONE, judges('a.txt')], objective: UNCHECKED });
    const ended = await bench.runAll();
    const headline = 'DONE, 1 of 1 criterion judged by reviewer-1, not run';
    const status = await expectEnd(bench, ended, 0, headline);
    const evidence = '`git log --oneline -1` (its judge ran it; output not checked): it is there';
    expect(status.criteria).toEqual([{ text: 'it is nice', state: 'judged', by: 'reviewer-1', evidence }]);
  });

  it('are not checked where the judge names a file that does not exist', ALL, async (test) => {
    const bench = benchFor(test, {
      script: [{ ...judges('nowhere.txt'), when: REPAIR }, ...ONE, judges('nowhere.txt')],
      objective: UNCHECKED,
    });
    await expectEnd(bench, await bench.runAll(), 0, 'DONE, 1 of 1 criterion not checked');
    const evidence = expect.stringMatching(
      /^reviewer-1 says that it is met, but the judged commit has no file nowhere\.txt/,
    );
    expect((await bench.status()).criteria).toMatchObject([{ state: 'not-checked', evidence }]);
  });

  it('are judged once a quote that is not there has gone back, and been corrected', async (test) => {
    const [wrong, right] = ['nowhere.txt', 'alpha.txt'].map((file) => judges(file));
    if (wrong === undefined || right === undefined) throw new Error('two were made');
    const script = [{ ...right, when: REPAIR }, wrong, ...ALPHA];
    const bench = benchFor(test, { script, objective: UNCHECKED });
    await expectEnd(bench, await bench.runAll(), 0, 'DONE, 1 of 1 criterion judged by reviewer-1, not run');
    const head = git(bench.repository, 'rev-parse', 'squad/make-things').slice(0, 12);
    const evidence = `alpha.txt:1 at ${head} has “alpha”: it is there`;
    expect((await bench.status()).criteria).toEqual([
      { text: 'it is nice', state: 'judged', by: 'reviewer-1', evidence },
    ]);
    expect(await bench.report()).toContain(`alpha.txt:1 at ${head} has “alpha”`);
    expect((await bench.run(['show'])).stdout).toContain(`alpha.txt:1 at ${head} has “alpha”`);
  });

  it('that are not met go back to a builder, and are judged again', ALL, async (test) => {
    const again = { ...judges('fix-1.txt'), when: '# Task judge-2' };
    const script = [...ONE, made('fix-1'), again, judges(null)];
    const bench = benchFor(test, { script, objective: UNCHECKED });
    const ended = await bench.runAll();
    await expectEnd(bench, ended, 0, 'DONE, 1 of 1 criterion judged by reviewer-1, not run');
    expect(bench.fileOnBranch('fix-1.txt')).toBe('fix-1');
  });
});

describe.concurrent('what the playbook calls the end', { timeout: 300_000 }, () => {
  it(
    'is checked in a council too: its criterion fails, a member fixes it, and only then it is done',
    ALL,
    async (test) => {
      const skimped = author('execute-1', commits({ 'src/router.txt': 'try again later\n' }));
      const bench = benchFor(test, {
        script: councilScript([skimped, author('fix-1', commits({ 'src/router.txt': 'try again with a backoff\n' }))]),
        settings: { playbook: 'council', agents: COUNCIL_AGENTS },
        objective: COUNCIL_OBJECTIVE,
        files: COUNCIL_FILES,
      });
      const ended = await bench.runAll();
      await expectEnd(bench, ended, 0, VERIFIED);
      expect(ended.lines.filter(({ type }) => type === 'gate-checked').map(({ result }) => result)).toEqual([
        'refused',
        'finished',
      ]);
      expect(bench.fileOnBranch('src/router.txt')).toBe('try again with a backoff');
    },
  );

  it('is no end where nothing that is tried makes the criterion true', NIGHT, async (test) => {
    const nothing = answers('assign', { summary: 'nothing', assignments: [] });
    const bench = benchFor(test, {
      script: councilScript([nothing, ...['fix-1', 'fix-2'].map(made)]),
      settings: { playbook: 'council', agents: COUNCIL_AGENTS },
      objective: COUNCIL_OBJECTIVE,
      files: COUNCIL_FILES,
    });
    const ended = await bench.runAll();
    expect([ended.code, ended.lines.at(-1)?.['headline']]).toEqual([1, expect.stringMatching(/^FAILED, /)]);
    expect((await bench.status()).criteria).toMatchObject([{ state: 'failed', by: 'engine' }]);
  });

  it('fails `plan` where the plan cannot be used', ALL, async (test) => {
    const circle = [piece('a', { needs: ['b'] }), piece('b', { needs: ['a'] })];
    const bench = benchFor(test, { script: [plan(circle), plan(circle, 'is open again')] });
    const ended = await bench.runAll();
    expect([ended.code, ended.lines.at(-1)?.['headline']]).toEqual([
      1,
      expect.stringMatching(/^FAILED, the plan cannot be used/),
    ]);
    expect(statusOf(await bench.status(), 'plan')).toBe('failed');
  });

  it('names what a person skipped, and is exit 1 for that with `strict`', ALL, async (test) => {
    const two = [plan([piece('a'), piece('b')]), made('b'), author('a', [{ run: ['true'] }, { hang: true }])];
    const bench = benchFor(test, { script: two, settings: { strict: true } });
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    expect((await bench.run(['skip', 'a', '--reason', 'not needed'])).code).toBe(0);
    const ended = await engine.finished;
    const headline = ended.lines.at(-1)?.['headline'];
    expect(headline).toMatch(/^DONE, skipped by .+: a$/);
    await expectEnd(bench, ended, 1, String(headline));
  });

  it('is failed where a stalled agent’s task was skipped by itself', ALL, async (test) => {
    const two = [plan([piece('a'), piece('b')]), made('b'), author('a', [{ hang: true }])];
    const settings = { limits: { walls: ['skip'], firstToolSeconds: 1 } };
    const bench = benchFor(test, { script: two, settings });
    const ended = await bench.runAll();
    expect([ended.code, ended.lines.at(-1)?.['headline']], ended.stderr).toEqual([
      1,
      expect.stringMatching(/^FAILED, a was skipped because its agent stalled: /),
    ]);
    expect(bench.fileOnBranch('b.txt')).toBe('b');
  });
});

const BRANCH = 'refs/heads/squad/make-things';
/** From a task's folder into the user's git directory. */
const IN_USERS = `cd "$(sed -n '2s|/objects$||p' .git/objects/info/alternates)"`;
/** A commit of nobody's on top of the run branch, and the branch moved to it. */
const FOREIGN = [
  IN_USERS,
  `tree=$(git rev-parse ${BRANCH}^{tree})`,
  'blob=$(echo theirs | git hash-object -w --stdin)',
  'tree=$( (git ls-tree $tree; printf "100644 blob %s\\ttheirs.txt\\n" $blob) | git mktree)',
  `head=$(git commit-tree $tree -p ${BRANCH} -m theirs)`,
  `git update-ref ${BRANCH} $head`,
].join(' && ');

describe.concurrent('the run branch', { timeout: 300_000 }, () => {
  const moved = (id: string, script: string): Entry =>
    author(id, [{ run: ['sh', '-c', script] }, ...commits({ [`${id}.txt`]: `${id}\n` })]);
  const chain = (script: string): Entry[] => [
    plan([piece('a'), piece('b', { needs: ['a'] })]),
    made('a'),
    moved('b', script),
  ];
  const expectAsked = async (ended: Finished, bench: RunBench, options: readonly string[]) => {
    expect([ended.code, ended.lines.at(-1)?.['outcome']], ended.stderr).toEqual([3, 'waiting']);
    const { waitingFor } = await bench.status();
    expect(waitingFor).toMatchObject({ for: 'answer', questions: [{ options }] });
  };
  const WAYS = ['restore', 'take in', 'give up'];

  it('that an agent moved is put back, and its commit kept aside', ALL, async (test) => {
    const bench = benchFor(test, { script: chain(FOREIGN) });
    await expectAsked(await bench.runAll(), bench, WAYS);
    const foreign = git(bench.repository, 'rev-parse', BRANCH);
    expect((await bench.run(['answer', 'restore'])).code).toBe(0);
    await expectEnd(bench, await bench.run(['resume', '--json']), 0, VERIFIED);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
    expect(bench.fileOnBranch('theirs.txt')).toBeUndefined();
    const kept = git(bench.repository, 'rev-parse', `refs/squad/make-things/foreign-${foreign.slice(0, 12)}`);
    expect(kept).toBe(foreign);
  });

  it('takes a foreign commit in only past a reviewer', ALL, async (test) => {
    const bench = benchFor(test, { script: chain(FOREIGN) });
    await expectAsked(await bench.runAll(), bench, WAYS);
    expect((await bench.run(['answer', 'take in'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    await expectEnd(bench, resumed, 0, VERIFIED);
    expect(bench.fileOnBranch('theirs.txt')).toBe('theirs');
    expect(startsOf(resumed).map(({ task, agent }) => [task, agent])).toContainEqual(['foreign', 'reviewer-1']);
  });

  it(
    'that lost delivered work is no done run; whoever gives up has failed, and nothing is touched',
    ALL,
    async (test) => {
      const back = `${IN_USERS}; git update-ref ${BRANCH} $(git rev-parse main)`;
      const bench = benchFor(test, { script: chain(back) });
      await expectAsked(await bench.runAll(), bench, WAYS);
      expect((await bench.run(['answer', 'give up'])).code).toBe(0);
      const resumed = await bench.run(['resume', '--json']);
      expect([resumed.code, resumed.lines.at(-1)?.['headline']], resumed.stderr).toEqual([
        1,
        expect.stringMatching(/^FAILED, a person gave up on the run branch: /),
      ]);
      expect(git(bench.repository, 'rev-parse', BRANCH)).toBe(git(bench.repository, 'rev-parse', 'main'));
    },
  );

  it.for(
    some(
      [
        ['moved', FOREIGN, WAYS],
        ['deleted', `${IN_USERS}; git update-ref -d ${BRANCH}`, ['restore', 'give up']],
      ] as const,
      0,
      1,
    ),
  )('that is %s while the result is judged makes that void', ALL, async ([, script, ways], test) => {
    const judge = judges('a.txt');
    const bench = benchFor(test, {
      script: [...ONE, { ...judge, steps: [{ run: ['sh', '-c', script] }, ...judge.steps] }],
      objective: UNCHECKED,
    });
    const ended = await bench.runAll();
    await expectAsked(ended, bench, ways);
    expect(ended.lines.filter(({ type }) => type === 'gate-checked').at(-1)).toMatchObject({ result: 'void' });
    expect((await bench.run(['answer', 'restore'])).code).toBe(0);
    const headline = 'DONE, 1 of 1 criterion judged by reviewer-1, not run';
    await expectEnd(bench, await bench.run(['resume', '--json']), 0, headline);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('theirs.txt')]).toEqual(['a', undefined]);
  });

  it('takes a commit in where nothing else is left to do', NIGHT, async (test) => {
    const judge = judges('a.txt');
    const bench = benchFor(test, {
      script: [...ONE, { ...judge, steps: [{ run: ['sh', '-c', FOREIGN] }, ...judge.steps] }, judges('a.txt')],
      objective: UNCHECKED,
    });
    await expectAsked(await bench.runAll(), bench, WAYS);
    // The judge does not move it again.
    bench.rescript([{ ...judge, when: '# Task judge-2' }, APPROVE_ALL]);
    expect((await bench.run(['answer', 'take in'])).code).toBe(0);
    const headline = 'DONE, 1 of 1 criterion judged by reviewer-1, not run';
    await expectEnd(bench, await bench.run(['resume', '--json']), 0, headline);
    expect(bench.fileOnBranch('theirs.txt')).toBe('theirs');
  });
});
