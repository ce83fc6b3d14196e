import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, objective, piece, plan } from './run-script.ts';
import { stateOf } from '../support/state.ts';
import { ALL } from '../support/lane.ts';

const RUN = ['run', 'objective.md', '--runtime', 'scripted', '--yes'];

/** Every path below the room, and git's own files as far as a run could touch them. */
function everything({ root }: RunBench): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${readFileSync(path).toString('base64').slice(0, 200)}` : path;
    })
    .toSorted();
}

const settingsOf = (bench: RunBench, text: string): void => writeFileSync(join(bench.repository, 'squad.yaml'), text);
const objectiveOf = (bench: RunBench, text: string): void =>
  writeFileSync(join(bench.repository, 'objective.md'), text);

interface Case {
  readonly title: string;
  readonly code: number;
  readonly says: RegExp;
  readonly args?: readonly string[];
  readonly environment?: Record<string, string>;
  arrange?(bench: RunBench): void;
}

const CASES: readonly Case[] = [
  {
    title: 'an unknown key in squad.yaml',
    code: 65,
    says: /squad\.yaml:2\b.*limts/s,
    arrange: (bench) => settingsOf(bench, 'version: 1\nlimts: { turns: 3 }\n'),
  },
  { title: 'an empty objective', code: 65, says: /objective\.md/, arrange: (bench) => objectiveOf(bench, '') },
  {
    title: 'an objective without goals',
    code: 65,
    says: /objective\.md.*[Gg]oals/s,
    arrange: (bench) => objectiveOf(bench, '# Objective: Make things\n'),
  },
  { title: 'an objective that is not there', code: 65, says: /nothing\.md/, args: ['run', 'nothing.md'] },
  {
    title: 'a folder that is no repository',
    code: 78,
    says: /git/,
    arrange: (bench) => rmSync(join(bench.repository, '.git'), { recursive: true }),
  },
  {
    title: 'a repository without a commit',
    code: 78,
    says: /commit/,
    arrange: ({ repository }) => {
      rmSync(join(repository, '.git'), { recursive: true });
      git(repository, 'init', '-q');
    },
  },
  {
    title: 'no runtime at all',
    code: 78,
    says: /claude|codex|runtime/,
    args: ['run', 'objective.md', '--yes'],
    environment: {},
    arrange: (bench) => settingsOf(bench, 'version: 1\n'),
  },
  { title: 'a name that is a path', code: 65, says: /\.\.\/x/, args: [...RUN, '--name', '../x'] },
  {
    title: 'such a name in the objective',
    code: 65,
    says: /name/,
    arrange: (bench) => objectiveOf(bench, objective({ front: 'name: ../x' })),
  },
  { title: 'an unknown flag', code: 2, says: /--frobnicate/, args: [...RUN, '--frobnicate'] },
  { title: 'a flag of no use', code: 2, says: /--parallel/, args: [...RUN, '--parallel', 'many'] },
  { title: 'a playbook nobody knows', code: 65, says: /delivry.*delivery/s, args: [...RUN, '--playbook', 'delivry'] },
  {
    title: 'commands that nobody agreed to',
    code: 78,
    says: /--yes/,
    args: ['run', 'objective.md', '--runtime', 'scripted'],
    arrange: (bench) => objectiveOf(bench, objective({ criteria: ['it is so (run: `true`)'] })),
  },
];

describe('what is refused before a run exists', () => {
  it.concurrent.for(CASES)(
    '$title: exit $code, one error, and nothing is made',
    { ...ALL, timeout: 300_000 },
    async ({ code, says, args = RUN, environment, arrange }, test) => {
      const bench = openRunBench({ script: [] });
      test.onTestFinished(() => bench.end());
      arrange?.(bench);
      const before = everything(bench);
      const ended = await bench.run(args, environment ?? (code === 2 ? {} : undefined));
      test.expect(ended.code, ended.stderr).toBe(code);
      test.expect(ended.stderr).toMatch(says);
      test.expect(ended.stderr.match(/^(?:squad|error)[: ]/gim) ?? ['']).toHaveLength(1);
      if (code !== 2) test.expect(ended.stderr).toMatch(/^\s*Next: /m);
      test.expect(ended.stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
      test.expect(ended.stdout).toBe('');
      test.expect(everything(bench)).toEqual(before);
    },
  );

  it(
    'a second engine in the same directory: exit 75 at once, and the first goes on',
    { ...ALL, timeout: 300_000 },
    async (test) => {
      const script = [plan([piece('a')]), author('a', [{ run: ['true'] }, { hang: true }]), APPROVE_ALL];
      const bench = openRunBench({ script });
      test.onTestFinished(() => bench.end());
      const engine = bench.startRun();
      await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
      const refs = git(bench.repository, 'for-each-ref');
      const runs = readdirSync(join(stateOf(bench.repository), 'runs'));
      const scratch = () => readdirSync(join(bench.root, 'state', 'squad', 'git-scratch'));
      const inUse = scratch();
      const second = await bench.run(['resume'], {});
      expect(second.code, second.stderr).toBe(75);
      expect(second.stderr).toMatch(/^\s*Next: /m);
      expect(git(bench.repository, 'for-each-ref')).toBe(refs);
      expect(readdirSync(join(stateOf(bench.repository), 'runs'))).toEqual(runs);
      expect(scratch()).toEqual(inUse);
      expect((await bench.status()).turns.live).toBe(1);
      engine.child.kill('SIGTERM');
      expect((await engine.finished).code).toBe(143);
    },
  );
});
