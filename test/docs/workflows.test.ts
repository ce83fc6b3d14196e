import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = `${ROOT}/.github/workflows`;

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions?: Readonly<Record<string, string>>;
        readonly 'timeout-minutes'?: number;
        readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
        readonly steps: readonly Step[];
      }
    >
  >;
}

const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly publishConfig: object;
};
const workflows = readdirSync(FOLDER).map((name) => {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  return { name, text, workflow: parse(text, { strict: true, uniqueKeys: true }) as Workflow };
});
function named(wanted: string): (typeof workflows)[number] {
  const found = workflows.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`no workflow ${wanted}`);
  return found;
}
const jobsOf = ({ jobs }: Workflow) => Object.values(jobs);

/** No forge runs these here: they are checked as far as a file can be. */
describe.each(workflows)('$name', ({ text, workflow }) => {
  it('names a script of package.json in every command of npm', () => {
    const commands = jobsOf(workflow).flatMap(({ steps }) => steps.map(({ run = '' }) => run));
    const scripts = commands.flatMap((run) =>
      [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => script),
    );
    if (/\bnpm test\b/.test(text)) scripts.push('test');
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  });

  it('pins each action to a commit, and says which release that is', () => {
    const uses = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  it('ends by itself, keeps no login for git, and puts no text of others into a shell', () => {
    for (const { steps, 'timeout-minutes': minutes = Infinity } of jobsOf(workflow)) {
      expect(minutes).toBeLessThanOrEqual(60);
      for (const { uses, with: given } of steps) {
        if (uses?.startsWith('actions/checkout@')) expect(given).toMatchObject({ 'persist-credentials': false });
      }
      expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
    }
  });
});

it('the tests run on the lowest Node that `engines` allows and on the newest', () => {
  const { permissions, jobs } = named('test.yml').workflow;
  const lowest = /^>=(\d+\.\d+\.\d+)$/.exec(manifest.engines.node)?.[1];
  expect(jobs['suite']?.strategy?.matrix.node).toEqual([lowest, 'latest']);
  expect(permissions).toEqual({ contents: 'read' });
});

it('a tag publishes, with provenance and no token', () => {
  const { text, workflow } = named('publish.yml');
  const { on, permissions, jobs } = workflow;
  expect(on).toEqual({ push: { tags: ['v*'] } });
  expect(permissions).toEqual({});
  expect(jobs['npm']?.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true });
  expect(text).not.toMatch(/secrets\./);
});
