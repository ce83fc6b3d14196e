import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { objective } from './run-script.ts';

const stage = (id: string, more: object) => ({ id, by: ['builder'], brief: 'Do it. {objective}', ...more });
const AGENTS = [
  { name: 'bob', role: 'builder', runtime: 'claude' },
  { name: 'bea', role: 'builder', runtime: 'claude', model: 'large' },
  { name: 'rex', role: 'reviewer', runtime: 'claude', access: 'read-only' },
];
const STAGES = [
  stage('PLAN', { makes: { document: 'plan.md', headings: ['Steps'], answer: 'tasks' } }),
  stage('BUILD', { makes: 'code', each: { of: 'PLAN' }, review: { id: 'BUILD_REVIEW', by: ['reviewer'], rounds: 3 } }),
  stage('TEST', { makes: { checks: ['npm test'] }, needs: ['PLAN', 'BUILD'] }),
  stage('VERDICT', {
    by: ['reviewer'],
    makes: { answer: 'verdict' },
    judges: { rounds: 2, else: { fix: 'BUILD' } },
  }),
];

/** `runtimes` are in the person's own settings, so that the repository names no program. */
function benchFor(settings: object, end: (end: () => void) => void): RunBench {
  const bench = openRunBench({ script: [] });
  end(() => bench.end());
  const path = join(bench.repository, 'squad.yaml');
  const { runtimes } = JSON.parse(readFileSync(path, 'utf8')) as { runtimes: object };
  const own = join(bench.root, '.config', 'squad');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'config.yaml'), JSON.stringify({ runtimes }));
  writeFileSync(path, JSON.stringify(settings, null, 2));
  return bench;
}

const run = (bench: RunBench, ...more: readonly string[]) =>
  bench.run(['run', 'objective.md', '--runtime', 'scripted', ...more]);

/** All that is on disk of a person's work, settings and runs. */
function contentsOf({ root, repository }: RunBench): string[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8', withFileTypes: true });
  return [
    ...files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${readFileSync(path).toString('base64')}` : path;
    }),
    git(repository, 'for-each-ref'),
  ].toSorted();
}

describe('squad run --dry-run', { timeout: 120_000 }, () => {
  it('draws the stages of a list, and writes nothing', async ({ onTestFinished }) => {
    const bench = benchFor({ agents: AGENTS, playbook: { stages: STAGES } }, onTestFinished);
    const before = contentsOf(bench);
    const { code, stdout, stderr } = await run(bench, '--dry-run');
    expect([code, stderr]).toEqual([0, '']);
    const [drawn = '', notes] = stdout.split('Notes\n');
    // A path of unknown length is broken anywhere.
    expect(notes?.replaceAll(/\s+/g, '')).toContain('config.yaml:runtime:scripted');
    expect(drawn.replace(/from [0-9a-f]{12}/, 'from …')).toMatchInlineSnapshot(`
      "Dry run of make-things: nothing has started, and nothing was written
      playbook stages, branch squad/make-things from …

         stage         who                               after
      1  PLAN          bob (scripted) or bea (scripted)
          Plan: writes plan.md (Steps) and plans tasks
      2  BUILD         bob (scripted) or bea (scripted)  PLAN
          Build: changes code; once for each task that PLAN plans
      3  BUILD_REVIEW  rex (scripted)                    BUILD
          a review of at most 3 rounds
      4  TEST          squad                             PLAN, BUILD
          Test: runs npm test
      5  VERDICT       rex (scripted)                    TEST
          Verdict: judges the work so far; a rejection is fixed as in BUILD, at most 2
          rounds

      Agents
          bob  builder   scripted  edit
          bea  builder   scripted  edit
          rex  reviewer  scripted  read-only
      Criteria
          things are there (run: test -d .)
      Commands
          criterion: test -d .
      At most
          USD 20.00, 200 turns, 8h00m of engine time
      Estimate
          no estimate: fewer than 3 runs of stages have ended as done here
      Consent
          needed: \`squad run\` asks at a terminal, \`--yes\` gives it for one run
          squad.yaml:1: stage: npm test
          objective.md:9: criterion: test -d .
          squad.yaml:1: models: bea works with the model large
      "
    `);
    expect(contentsOf(bench)).toEqual(before);
  });

  it('prints one object for programs', async ({ onTestFinished }) => {
    const bench = benchFor({ agents: AGENTS, playbook: { stages: STAGES } }, onTestFinished);
    const { code, lines } = await run(bench, '--dry-run', '--json', '--yes');
    expect(code).toBe(0);
    expect(lines).toMatchObject([
      {
        type: 'dry-run',
        name: 'make-things',
        playbook: 'stages',
        consent: 'given',
        stages: [
          { n: 1, id: 'PLAN', needs: [], who: [{ name: 'bob', runtime: 'scripted' }, { name: 'bea' }] },
          {
            n: 2,
            id: 'BUILD',
            each: { of: 'PLAN' },
            needs: ['PLAN'],
            reviews: [{ n: 3, id: 'BUILD_REVIEW', who: [{ name: 'rex' }], quorum: 'all', rounds: 3 }],
          },
          { n: 4, id: 'TEST', who: [], makes: { checks: ['npm test'] } },
          { n: 5, id: 'VERDICT', who: [{ name: 'rex' }], judges: { rounds: 2, else: { fix: 'BUILD' } } },
        ],
      },
    ]);
  });

  it('shows the agents and first tasks of another playbook', async ({ onTestFinished }) => {
    const bench = benchFor({}, onTestFinished);
    bench.objective(objective({ criteria: ['it looks good'] }));
    const before = contentsOf(bench);
    const delivery = await run(bench, '--dry-run');
    expect(delivery.stdout).toMatch(/1 {2}plan {2}planner/);
    expect(delivery.stdout).toMatch(/Agents\n {4}planner +planner +scripted +read-only/);
    const [council] = (await run(bench, '--dry-run', '--json', '--playbook', 'council')).lines;
    expect(council).toMatchObject({ playbook: 'council', agents: [{ name: 'main' }, {}, {}, {}, {}] });
    expect(contentsOf(bench)).toEqual(before);
  });

  it('is refused as the run itself', async ({ onTestFinished }) => {
    const bench = benchFor(
      { agents: AGENTS, playbook: { stages: [stage('A', { makes: 'cod', needs: ['B'] })] } },
      onTestFinished,
    );
    const [dry, real] = [await run(bench, '--dry-run'), await run(bench, '--yes')];
    expect([dry.code, dry.stderr]).toEqual([real.code, real.stderr]);
    expect(dry.code).toBe(65);
    expect(dry.stderr).toMatch(/squad\.yaml:\d+:\d+: playbook\.stages\[0\]\.makes: “cod” .*did you mean “code”/);
  });

  it('starts no program of the repository without consent', async ({ onTestFinished }) => {
    const bench = benchFor({ agents: AGENTS, runtimes: { claude: { command: './agent.sh' } } }, onTestFinished);
    const { code, stderr } = await bench.run(['run', 'objective.md', '--dry-run']);
    expect([code, stderr]).toEqual([78, expect.stringContaining('runtime: claude: ./agent.sh')]);
  });

  it('goes with nothing that starts something', async ({ onTestFinished }) => {
    const bench = benchFor({}, onTestFinished);
    expect(await run(bench, '--dry-run', '--detach')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--dry-run starts nothing, so it cannot be combined with --detach'),
    });
  });
});
