// @module-tag all
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL, NIGHT } from '../support/lane.ts';
import { NO_TRACE, rowOf, startedIn, traceCommand, type Started, type Traced } from '../support/program-trace.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { poison, program } from './poison.ts';

const RUN = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain'];

/** A repository that a stranger has filled with programs, and a run of these tasks in it. */
function openPoisoned(
  tasks: readonly string[],
  { settings = {}, filters = true }: { settings?: Readonly<Record<string, unknown>>; filters?: boolean } = {},
): RunBench {
  const attributes = filters ? { '.gitattributes': '* filter=evil diff=evil merge=evil\n' } : undefined;
  const files = { ...attributes, 'a.txt': 'one\n' };
  const script = [
    plan(tasks.map((id) => piece(id))),
    ...tasks.map((id) => author(id, commits({ [`${id}.txt`]: `${id}\n` }))),
    APPROVE_ALL,
  ];
  const bench = openRunBench({ script, files, settings });
  poison(bench);
  // `squad merge` refuses to write files that a filter would have to write.
  if (!filters) writeFileSync(join(bench.repository, '.git', 'info', 'attributes'), '* diff=evil merge=evil\n');
  // Programs of the repository with the names of those that squad starts.
  for (const name of ['git', 'sh', 'bwrap', 'gh', 'less', 'node', 'true', 'cat'])
    program(bench.repository, name, bench.root);
  return bench;
}

/** Starts that no row of the table allows, and programs of the repository or an agent that ran at all. */
function strangersIn({ started }: Traced, { root, repository }: RunBench): string[] {
  const show = ({ path, args }: Started): string => `${path} ${args.slice(0, 6).join(' ')}`;
  const planted = [join(root, 'programs'), join(root, 'hooks'), join(repository, '.git', 'hooks')];
  return [
    ...started.filter((one) => rowOf(one) === undefined).map((one) => `no row: ${show(one)}`),
    ...started
      .filter(({ path }) => planted.some((folder) => path.startsWith(`${folder}/`)))
      .map((one) => `planted: ${show(one)}`),
    ...readdirSync(root).filter((name) => name.startsWith('mark-')),
  ];
}

describe('reading a trace', () => {
  it('knows path, arguments and marker of each start, and hides no line that it cannot read', () => {
    const text = `12 execve("/usr/bin/git", ["git", "-c", "a=\\"b\\"", "x\\ny"], ["A=1", "SQUAD_TURN_ID=helper-1"]) = 0
13 execve("/x", ["x"], []) = 0
14 execve(something else`;
    expect(startedIn(text)).toEqual([
      { path: '/usr/bin/git', args: ['git', '-c', 'a="b"', 'x\ny'], marker: 'helper-1' },
      { path: '/x', args: ['x'], marker: undefined },
      { path: '14 execve(something else', args: [], marker: undefined },
    ]);
  });

  it('has no row for a program of the repository, a git without squad’s settings or a shell’s line', () => {
    const rows = [
      { path: '/repo/git', args: ['git', 'status'], marker: 'helper-1' },
      { path: '/usr/bin/git', args: ['git', 'status'], marker: undefined },
      { path: '/bin/sh', args: ['sh', '-c', 'touch x'], marker: 'helper-1' },
      { path: '/tmp/programs/filter', args: ['filter'], marker: 'helper-1' },
    ].map((one) => rowOf(one));
    expect(rows).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe.skipIf(NO_TRACE !== undefined)(
  `what the system saw start in a poisoned repository${NO_TRACE === undefined ? '' : ` (skipped: ${NO_TRACE})`}`,
  { timeout: 300_000 },
  () => {
    it('S6: a run starts nothing but rows of the table of programs', async (test) => {
      const bench = openPoisoned(['one'], { settings: { verify: [{ run: 'test -f one.txt' }], notify: 'true' } });
      test.onTestFinished(() => bench.end());
      const traced = await traceCommand(bench, RUN);
      expect(traced.code, traced.stderr).toBe(0);
      const kinds = new Set(traced.started.map((one) => rowOf(one)));
      for (const kind of ['squad', 'git-store', 'turn-wrapper', 'agents-own', 'notify'] as const)
        expect(kinds, kind).toContain(kind);
      expect(strangersIn(traced, bench)).toEqual([]);
    });

    it('S6: nor do stop, resume, looking, merge, drop, clean and doctor', ALL, async (test) => {
      const bench = openPoisoned(['one', 'two'], { filters: false });
      test.onTestFinished(() => bench.end());
      const calls: [readonly string[], number][] = [
        [[...RUN, '--max-turns', '2'], 4],
        [['resume', '--max-turns', '20', '--plain'], 0],
        [['status'], 0],
        [['diff', '--no-pager'], 0],
        [['show', '--no-pager'], 0],
        [['log', '--raw'], 0],
        [['report'], 0],
        [['merge'], 0],
        [['drop', '--all', '--yes'], 0],
        [['clean', '--all'], 0],
        [['doctor'], 78],
        [['doctor', '--trust'], 0],
      ];
      for (const [args, code] of calls) {
        const traced = await traceCommand(bench, args);
        expect(traced.code, `${args.join(' ')}: ${traced.stderr}`).toBe(code);
        expect(strangersIn(traced, bench), args.join(' ')).toEqual([]);
      }
    });

    it('S6: nor do the demo and Studio', NIGHT, async (test) => {
      const bench = openPoisoned(['one']);
      test.onTestFinished(() => bench.end());
      const demo = await traceCommand(bench, ['demo', '--keep', join(bench.root, 'demo')]);
      expect(demo.code, demo.stderr).toBe(0);
      expect(strangersIn(demo, bench)).toEqual([]);
      const studio = await traceCommand(bench, ['studio', '--port', '0'], {
        until: /https?:\/\/127\.0\.0\.1|localhost/,
      });
      expect(strangersIn(studio, bench), studio.stderr).toEqual([]);
    });

    it(
      'S6: nor where an agent has left a repository of its own in its folder, with programs in its configuration',
      ALL,
      async (test) => {
        const bench = openPoisoned([]);
        test.onTestFinished(() => bench.end());
        const planted = program(join(bench.root, 'programs'), 'nested', bench.root);
        const keys = [
          'filter.e.clean',
          'core.fsmonitor',
          'core.hooksPath',
          'diff.external',
          'core.alternateRefsCommand',
        ];
        const make = [
          'mk() {',
          'git init -q $1; echo x >$1/f; git -C $1 add f; git -C $1 -c user.name=a -c user.email=a@a commit -qm x',
          ...keys.map((key) => `git -C $1 config ${key} '${planted}'`),
          "echo '* filter=e' >$1/.gitattributes; touch -d 2030-01-01 $1/f",
          '}',
          'mk sub; mkdir deep; mk deep/sub; echo one >one.txt',
          'git add --all; git commit -qm work; echo more >more.txt',
        ];
        writeFileSync(join(bench.root, 'plant.sh'), make.join('\n'));
        bench.rescript([
          plan([piece('one')]),
          author('one', [{ run: ['sh', join(bench.root, 'plant.sh')] }, { answer: 'done' }]),
          APPROVE_ALL,
        ]);
        for (const args of [
          [...RUN, '--max-turns', '8'],
          ['status'],
          ['diff', '--no-pager'],
          ['drop', '--all', '--yes'],
          ['clean', '--all'],
        ]) {
          const traced = await traceCommand(bench, args);
          const outside = traced.started.filter((one) => rowOf(one) === undefined).map(({ path }) => path);
          expect(outside, args.join(' ')).toEqual([]);
        }
      },
    );
  },
);
