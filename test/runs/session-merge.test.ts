// @module-tag all
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { ALL, some } from '../support/lane.ts';
import { fullAnswer, promptOf, workers } from '../support/session-folder.ts';
import { startsOf } from './run-bench.ts';
import { again, commits, type Entry } from './run-script.ts';
import { FOLDER, openSessionBench, PAIR, type SessionBench } from './session-bench.ts';

/** A file of each kind that squad writes in the folder of a session, as a worker would make it that takes its role at its word. */
const OWN = {
  'team-session.json': '{"status":"completed"}\n',
  'shared-memory.json': '{"mine":1}\n',
  'artifacts/make-001.md': '# What I made\n',
  'artifacts/MAKE-001-report.md': '# Report\n',
  'wisdom/learnings.md': '- I learned this\n',
  'explorations/explore-mine.json': '{}\n',
  'discussions/MAKE-001-1.md': '# Is it good?\n',
  '.msg/messages.jsonl': '{}\n',
};
const BROUGHT = Object.fromEntries(Object.entries(OWN).map(([path, text]) => [`${FOLDER}/${path}`, text]));

/** The folder is committed, and a worker brings these files of it, then takes them back when it is told. */
function open(test: Parameters<typeof openSessionBench>[0], files: Readonly<Record<string, string>>): SessionBench {
  const brings: Entry = {
    when: promptOf('MAKE-001'),
    steps: commits({ 'make-001.txt': 'MAKE-001\n', ...files }),
    structured: fullAnswer('MAKE-001'),
  };
  const takesBack: Entry = {
    ...again('make-001', 'evidence', [
      {
        run: [
          'sh',
          '-c',
          `git rm -rq --cached ${FOLDER} && git checkout -q HEAD~1 -- ${FOLDER} && git commit -qm back`,
        ],
      },
      { answer: 'done' },
    ]),
    structured: fullAnswer('MAKE-001'),
  };
  const bench = openSessionBench(test, PAIR, [brings, takesBack, ...workers(PAIR)]);
  writeFileSync(join(bench.repository, '.git', 'info', 'exclude'), 'squad.yaml\nobjective.md\n');
  git(bench.repository, 'add', '.workflow');
  git(bench.repository, 'commit', '-q', '-m', 'session');
  return bench;
}

async function merges({ run, state, repository, folder }: SessionBench): Promise<void> {
  const before = state();
  const artifact = (): string => readFileSync(join(folder, 'artifacts', 'make-001.md'), 'utf8');
  const kept = artifact();
  expect(kept).toContain('What MAKE-001 made');
  const merged = await run(['merge', 'make-things']);
  expect(merged.code, merged.stderr).toBe(0);
  expect(state()).toEqual(before);
  expect(artifact()).toBe(kept);
  expect(git(repository, 'show', 'HEAD:make-002.txt')).toBe('MAKE-002');
  expect(git(repository, 'diff', '--name-only', 'HEAD~3', 'HEAD', '--', FOLDER)).toBe('');
  const again = await run(['merge', 'make-things']);
  expect(again.stdout).toContain('nothing was left to merge');
}

describe('a worker that writes into the folder of its session', { timeout: 120_000 }, () => {
  it('is told where that goes, and its work is merged without it', async (test) => {
    const bench = open(test, BROUGHT);
    const ended = await bench.play(['--json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(startsOf(ended).map(({ task }) => task)).toEqual(['spec-001', 'make-001', 'make-001', 'make-002']);
    const returned = JSON.stringify(ended.lines);
    expect(returned).toContain(`these files may not change: ${FOLDER}/`);
    await merges(bench);
  });

  it.each(some(Object.keys(OWN), 0, 3))('is told so of %s alone, also after a resume', ALL, async (path) => {
    const ends: (() => void)[] = [];
    const bench = open(
      { onTestFinished: (end) => ends.push(end) },
      { [`${FOLDER}/${path}`]: OWN[path as keyof typeof OWN] },
    );
    try {
      expect((await bench.play(['--json', '--max-turns', '2'])).code).toBe(4);
      const ended = await bench.run(['resume', '--json', '--max-turns', '9']);
      expect(ended.code, ended.stderr).toBe(0);
      expect(startsOf(ended).map(({ task }) => task)).toEqual(['make-001', 'make-002']);
      await merges(bench);
    } finally {
      for (const end of ends) end();
    }
  });

  it('may change what else is there', ALL, async (test) => {
    const bench = open(test, { [`${FOLDER}/notes/mine.md`]: '# Mine\n' });
    const ended = await bench.play(['--json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(startsOf(ended)).toHaveLength(3);
    const merged = await bench.run(['merge', 'make-things']);
    expect(merged.code, merged.stderr).toBe(0);
    expect(readFileSync(join(bench.folder, 'notes', 'mine.md'), 'utf8')).toBe('# Mine\n');
  });
});
