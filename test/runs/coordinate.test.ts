// @module-tag all
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSession } from '../../src/playbooks/session/check-session.ts';
import { readSessionFolder } from '../../src/squad/sources/session/read-session.ts';
import { tokenSamples } from '../security/tokens.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { DIAMOND, workers, writeSession } from '../support/session-folder.ts';
import { CIRCLE, LOST_ROLE, plannedRole, planner, sessionOfTeam, teamAnswer } from '../support/team-answer.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { objective, waitFor, type Entry } from './run-script.ts';
import { stateOf } from '../support/state.ts';

const ARGUMENTS = ['coordinate', '--runtime', 'scripted', '--yes'];
const OBJECTIVE = [...ARGUMENTS, 'objective.md'];

function benchFor({ onTestFinished }: { onTestFinished(end: () => void): void }, script: readonly Entry[]): RunBench {
  // Neither command runs: a planner delivers nothing that they could test.
  const bench = openRunBench({ script, settings: { setup: [{ run: 'false' }], verify: [{ run: 'false' }] } });
  onTestFinished(() => bench.end());
  return bench;
}

function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name).slice(folder.length + 1),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  );
}

/** Without those that are not whole yet. */
function sessionsOf({ repository }: RunBench): string[] {
  return readdirSync(join(repository, '.workflow', '.team')).filter((name) => !name.startsWith('.new-'));
}

/** The only session of the repository, and all that is there. */
function madeIn({ repository }: RunBench): string {
  const sessions = join(repository, '.workflow', '.team');
  const names = readdirSync(sessions);
  expect(names).toEqual([expect.stringMatching(/^TC-make-things-\d{4}-\d\d-\d\d$/)]);
  return join(sessions, names[0] ?? '');
}

async function expectValid(bench: RunBench, folder: string): Promise<void> {
  expect(checkSession(await readSessionFolder(folder, bench.repository))).toMatchObject({ ok: true });
}

function expectNoBranch({ repository }: RunBench): void {
  expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/squad', 'refs/squad')).toBe('');
}

describe.concurrent('squad coordinate', { timeout: 120_000 }, () => {
  it('makes no name of a secret in the title', ALL, async (test) => {
    const token = tokenSamples()['github token']?.token ?? '';
    const bench = benchFor(test, planner(teamAnswer()));
    const finished = await bench.run([...ARGUMENTS, `Use ${token}`]);
    expect(finished.code, finished.stderr).toBe(0);
    expect(sessionsOf(bench)).toEqual([expect.stringMatching(/^TC-use-redacted-\d{4}-\d\d-\d\d$/)]);
    expect(finished.stdout + finished.stderr).not.toMatch(new RegExp(token.slice(0, 12), 'i'));
  });

  it('lets the planner correct a circle and a missing role, and makes one folder and no branch', async (test) => {
    const bench = benchFor(test, planner(CIRCLE, LOST_ROLE, teamAnswer()));
    const finished = await bench.run([...OBJECTIVE, '--json']);
    expect(finished.code, finished.stderr).toBe(0);
    expect(turnsOf(finished, 'coordinate')).toHaveLength(3);
    const folder = madeIn(bench);
    await expectValid(bench, folder);
    expectNoBranch(bench);
    const shown = folder.slice(bench.repository.length + 1);
    const next = [`squad run --session=${folder} --runtime scripted`];
    const end = finished.lines.at(-1) ?? {};
    expect(end).toMatchObject({ type: 'run-ended', outcome: 'done', headline: `DONE, made ${shown}`, next });
    expect(end).not.toHaveProperty('branch');
    expect(await bench.status()).toMatchObject({ playbook: 'coordinate', phase: 'finished', branch: null, next });
    expect((await bench.run(['status'])).stdout).toContain(`\nNext: ${next[0]}\n`);
    const report = await bench.report();
    expect(report).toContain(`The run has no branch. It made the session folder \`${shown}\``);
    expect(report).toContain(next[0]);
    expect((await bench.run(['log'])).stdout).toContain('coordinate');
    expect((await bench.run(['runs'])).stdout).toContain(`made ${shown}`);
    expect((await bench.run(['merge'])).stderr).toContain('has no branch: it made a session folder');
    expect((await bench.run(['diff'])).code).toBe(2);
    expect((await bench.run(['drop', '--yes'])).code).toBe(0);
    expect(existsSync(join(folder, 'team-session.json'))).toBe(true);
  });

  it('ends with every problem of the third answer, and leaves no folder', ALL, async (test) => {
    const wrong = { ...CIRCLE, capabilities: [] };
    const bench = benchFor(test, planner(LOST_ROLE, LOST_ROLE, wrong));
    const { code, lines } = await bench.run([...OBJECTIVE, '--json']);
    const { why } = lines.at(-1) ?? {};
    expect([code, why]).toEqual([
      1,
      expect.stringMatching(/there is no capability[^]*circle: WRIT-001 needs CHEC-001/),
    ]);
    const said =
      'bad-output: the answer makes no valid session folder: there is no capability; task-analysis.json has a circle';
    for (const command of ['runs', 'status', 'report']) expect((await bench.run([command])).stdout).toContain(said);
    expect(await bench.report()).toContain(`3 attempts: ${said}`);
    expect(existsSync(join(bench.repository, '.workflow'))).toBe(false);
    expectNoBranch(bench);
    const merged = await bench.run(['merge']);
    expect(merged.stderr).toContain('has no branch: it makes a session folder, and no work');
  });

  it.for(['', '../'])(
    'tells people the next command, and the folder from the root: %jthe team',
    ALL,
    async (up, test) => {
      const bench = benchFor(test, planner(teamAnswer()));
      const from = up === '' ? '' : join(up, basename(bench.repository));
      const { code, stdout } = await bench.run([...OBJECTIVE, '--into', join(from, 'the team')]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/DONE, made the team\n/);
      expect(stdout).toContain(
        `next      squad run --session='${join(bench.repository, 'the team')}' --runtime scripted\n`,
      );
      expect(stdout).not.toContain('branch    squad/');
      await expectValid(bench, 'the team');
    },
  );

  async function expectMadeOnce(bench: RunBench, point: string): Promise<void> {
    const killed = await bench.run(OBJECTIVE, { SQUAD_FAILPOINTS: `${point}=kill` });
    expect(killed.signal).toBe('SIGKILL');
    const before = existsSync(join(bench.repository, '.workflow')) ? sessionsOf(bench) : [];
    const { code, lines, stderr } = await bench.run(['resume', '--json']);
    expect(code, stderr).toBe(0);
    expect(lines.filter(({ type }) => type === 'attempt-taken')).toEqual([]);
    const folder = madeIn(bench);
    expect(before).toEqual(point === 'folder.renamed' ? sessionsOf(bench) : []);
    await expectValid(bench, folder);
    expectNoBranch(bench);
  }

  it('makes the folder once if its engine is killed between the answer and the folder', async (test) => {
    await expectMadeOnce(benchFor(test, planner(teamAnswer())), 'publish.before');
  });

  it.for(['folder.before-rename', 'folder.renamed'])(
    'makes the folder once if its engine is killed at %s',
    ALL,
    async (point, test) => {
      await expectMadeOnce(benchFor(test, planner(teamAnswer())), point);
    },
  );

  it('runs the session that it made to its end', async (test) => {
    const team = teamAnswer();
    const bench = benchFor(test, [...planner(CIRCLE, LOST_ROLE, team), ...workers(sessionOfTeam(team))]);
    bench.settings({});
    bench.objective(objective({ front: 'name: make-things\nlimits: { turns: 40 }' }));
    const { code, lines, stderr } = await bench.run([...OBJECTIVE, '--model', 'planner=big', '--run', '--json']);
    const ends = lines.filter(({ type }) => type === 'run-ended');
    expect([code, ends.map(({ name, outcome }) => [name, outcome])], stderr).toEqual([
      0,
      [
        ['coordinate-make-things', 'done'],
        ['make-things', 'done'],
      ],
    ]);
    const defined = lines.filter(({ type }) => type === 'run-defined');
    expect(defined).toMatchObject([
      { limits: { turns: 40 }, agents: [{ name: 'planner', model: 'big' }] },
      { limits: { turns: 40 }, agents: [{ name: 'writer' }, { name: 'checker' }] },
    ]);
    const folder = madeIn(bench);
    await expectValid(bench, folder);
    expect(JSON.parse(readFileSync(join(folder, 'team-session.json'), 'utf8'))).toMatchObject({
      status: 'completed',
      completed_tasks: ['WRIT-001', 'WRIT-002', 'CHEC-001'],
    });
    expect(bench.fileOnBranch('writ-002.txt')).toBe('WRIT-002');
  });

  it.for([true, false])(
    'checks the criteria of the objective where it is played: at once %j',
    ALL,
    async (atOnce, test) => {
      const team = teamAnswer();
      const bench = benchFor(test, [...planner(team), ...workers(sessionOfTeam(team))]);
      bench.settings({});
      const there = 'the last file is there (run: `test -f writ-002.txt`)';
      bench.objective(
        objective({ criteria: [there, 'it is checked (run: `echo nowhere is not there; test -f nowhere.txt`)'] }),
      );
      const made = await bench.run([...OBJECTIVE, ...(atOnce ? ['--run'] : []), '--json']);
      const played = atOnce
        ? made
        : await bench.run(['run', `--session=${madeIn(bench)}`, '--runtime', 'scripted', '--yes', '--json']);
      const last = played.lines.at(-1) as { headline: string };
      expect([played.code, last.headline], played.stderr).toEqual([
        1,
        expect.stringMatching(/^FAILED, criterion: `echo nowhere.* exited with 1: nowhere is not there/),
      ]);
      const { criteria } = await bench.status();
      expect(criteria.map(({ state, by }) => [state, by])).toEqual([
        ['met', 'engine'],
        ['failed', 'engine'],
      ]);
    },
  );

  it('adds what a folder lacks, and leaves the rest as it is', ALL, async (test) => {
    const roles = DIAMOND.roles.map(({ name }) => plannedRole(name));
    const bench = benchFor(test, planner(teamAnswer({ roles })));
    const folder = writeSession(join(bench.repository, 'team'), DIAMOND);
    writeFileSync(join(folder, 'wisdom', 'learnings.md'), 'What we knew\n');
    rmSync(join(folder, 'roles', 'writer.md'));
    const before = filesIn(folder);
    const whole = [...ARGUMENTS, '--into', 'team', '--resume'];
    const { code, stdout, stderr } = await bench.run(whole);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^DONE, completed team$/m);
    expect(await bench.report()).toContain(
      'It completed the session folder `team`, and wrote in it:\n\n- `roles/writer.md`\n',
    );
    const { 'roles/writer.md': made, ...others } = filesIn(folder);
    expect(made).toContain('# Role: writer');
    expect(others).toEqual(before);
    await expectValid(bench, 'team');
    const again = await bench.run([...whole, '--json']);
    const next = [`squad run --session=${folder} --runtime scripted`];
    expect([again.code, again.lines]).toEqual([0, [{ type: 'coordinated', folder: 'team', next }]]);
  });

  it('keeps a file that is not valid under another name', ALL, async (test) => {
    const bench = benchFor(test, planner(teamAnswer()));
    const folder = writeSession(join(bench.repository, 'team'), DIAMOND);
    rmSync(join(folder, 'roles'), { recursive: true });
    writeFileSync(join(folder, 'team-session.json'), '{ "session_id": ');
    writeFileSync(join(folder, 'task-analysis.json'), '[]');
    const { code, stderr } = await bench.run([...OBJECTIVE, '--into', 'team', '--resume']);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      'team-session.json is not valid. squad writes a new one and keeps yours as team-session.json.theirs (or ',
    );
    expect(readFileSync(join(folder, 'team-session.json.theirs'), 'utf8')).toBe('{ "session_id": ');
    expect(readFileSync(join(folder, 'task-analysis.json.theirs'), 'utf8')).toBe('[]');
    await expectValid(bench, 'team');
  });

  const refused: readonly [what: string, more: readonly string[], code: number, said: RegExp][] = [
    ['no objective', [], 2, /there is no objective[^]*squad coordinate objective\.md/],
    [
      'a folder with something in it',
      ['objective.md', '--into', 'full'],
      65,
      /full is there already, and is not empty[^]*--resume/,
    ],
    ['a file in place of the folder', ['objective.md', '--into', 'objective.md'], 65, /is no folder/],
    ['a folder below a file', ['objective.md', '--into', 'objective.md/team'], 78, /cannot be written/],
    ['a folder without a name', ['objective.md', '--into', ''], 2, /--into names no folder/],
    ['a resume of a folder without a name', ['--resume', '--into', ''], 2, /--into names no folder/],
    ['a resume without a folder', ['objective.md', '--resume'], 2, /--resume needs the folder of the session/],
    ['a resume of no folder', ['objective.md', '--resume', '--into', 'none'], 65, /Session directory not found: none/],
    ['a resume without any task', ['--resume', '--into', 'full'], 2, /no task_description/],
    ['a resume of a state that is not valid', ['--resume', '--into', 'begun'], 2, /team-session\.json is not valid/],
  ];
  it.for(refused)('refuses %s before anything starts', async ([, more, code, said], test) => {
    const bench = benchFor(test, []);
    mkdirSync(join(bench.repository, 'full'));
    writeFileSync(join(bench.repository, 'full', 'notes.txt'), 'mine');
    mkdirSync(join(bench.repository, 'begun'));
    writeFileSync(join(bench.repository, 'begun', 'team-session.json'), '{"task_description":"Make things"}');
    const finished = await bench.run([...ARGUMENTS, ...more]);
    expect([finished.code, finished.stderr]).toEqual([code, expect.stringMatching(said)]);
    expect(existsSync(join(stateOf(bench.repository), 'squad.db'))).toBe(false);
  });

  it('refuses a folder that another run is about to make', ALL, async (test) => {
    const bench = benchFor(test, planner(teamAnswer()));
    await bench.run([...OBJECTIVE, '--into', 'team'], { SQUAD_FAILPOINTS: 'publish.before=kill' });
    const { code, stderr } = await bench.run([...OBJECTIVE, '--into', 'team']);
    expect([code, stderr]).toEqual([75, expect.stringContaining('squad resume coordinate-make-things')]);
    expect((await bench.run(['resume'])).code).toBe(0);
  });

  it('never replaces a folder that appears meanwhile', ALL, async (test) => {
    const [first] = planner(teamAnswer());
    const bench = benchFor(test, []);
    const go = join(bench.root, 'go');
    if (first !== undefined) bench.rescript([{ ...first, steps: [waitFor(go), ...first.steps] }]);
    const engine = bench.start([...OBJECTIVE, '--into', 'team', '--json']);
    await engine.line(({ type }) => type === 'attempt-taken');
    mkdirSync(join(bench.repository, 'team'), { recursive: true });
    writeFileSync(join(bench.repository, 'team', 'notes.txt'), 'mine');
    writeFileSync(go, '');
    const { code, lines } = await engine.finished;
    expect([code, lines.at(-1)]).toEqual([
      1,
      expect.objectContaining({ why: expect.stringContaining('there already') }),
    ]);
    expect(filesIn(join(bench.repository, 'team'))).toEqual({ 'notes.txt': 'mine' });
  });
});
