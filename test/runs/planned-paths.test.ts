// @module-tag all
import { describe, expect, it, type TestContext } from 'vitest';
import { mailOf } from '../support/mail-of.ts';
import { ALL, NIGHT, SPREAD, some } from '../support/lane.ts';
import { editRun } from '../studio/studio-bench.ts';
import { openRunBench, statusOf, turnsOf, type RunBench } from './run-bench.ts';
import { again, author, type Entry, type Step } from './run-script.ts';

const AGENTS = ['lead', 'adviser', 'builder-1', 'builder-2'].map((name) => ({
  ...{ name, role: name.replace(/-\d/, ''), runtime: 'scripted' },
}));

const SEEN = {
  ...{ type: 'object', properties: { seen: { type: 'string' } }, required: ['seen'], additionalProperties: false },
};

const PLAYBOOK = {
  stages: [
    { id: 'PLAN', by: ['lead'], brief: '{objective}', makes: { answer: 'tasks' } },
    { id: 'BUILD', by: ['builder'], brief: 'Build it.', makes: 'code', each: { of: 'PLAN' } },
    // The list has to use each role.
    { id: 'LOOK', by: ['adviser'], brief: 'Look at it.', makes: { answer: SEEN }, needs: ['BUILD'] },
  ],
};

const tool = (name: string, given: Readonly<Record<string, unknown>>): Step => ({
  ...{ mcp: 'squad', tool: name, arguments: given },
});
const asks = (to = 'lead'): Step =>
  tool('ask', {
    ...{
      to: [to],
      question: 'May I change it?',
      context: 'left.txt needs it',
      code_path: 'lib/a.txt',
    },
  });

const planned = (...ids: readonly string[]): Entry => ({
  when: '# Task plan:',
  steps: [{ answer: 'planned' }],
  structured: {
    tasks: ids.map((id) => ({
      ...{ id, title: `Make ${id}`, brief: `Make ${id}.`, needs: [], paths: [`${id}.txt`], acceptance: [] },
    })),
  },
});
const ANSWERED = 'has been answered: see your mail below';
const answer = (paths: readonly string[], steps: readonly Step[] = [{ answer: 'yes' }]): Entry => ({
  when: '# Task answer-',
  steps,
  structured: { answer: 'as you need it', doc_updated: false, doc_path: '', reason: 'no document says it', paths },
});
const LOOKED: Entry = { when: '# Task look', steps: [{ answer: 'seen' }], structured: { seen: 'all' } };

function openBench(test: TestContext, script: readonly Entry[]): RunBench {
  const bench = openRunBench({
    settings: { agents: AGENTS, playbook: PLAYBOOK },
    script: [...script, LOOKED],
    files: { 'old.txt': 'old\n', 'lib/a.txt': 'a\n', '.gitignore': 'ignored\n' },
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

function eventsWith(bench: RunBench, ...texts: readonly string[]): number {
  const ledger = bench.ledger();
  try {
    const all = ledger.events({ limit: 10_000 }).map((event) => JSON.stringify(event));
    return all.filter((event) => texts.every((text) => event.includes(text))).length;
  } finally {
    ledger.close();
  }
}

const shell = (...lines: readonly string[]): Step => ({ run: ['sh', '-ec', lines.join('\n')] });
const commit = (): Step[] => [shell('git add --all', 'git commit --quiet --message work'), { answer: 'done' }];

/** Turns of authors whose commit has a path outside of `left.txt`, and what is named. */
const OUTSIDE: readonly (readonly [string, readonly string[], string])[] = [
  ['a rename from outside', ['git mv old.txt left.txt'], 'old.txt'],
  ['a deletion', ['echo x > left.txt', 'git rm --quiet old.txt'], 'old.txt'],
  ['a link', ['echo x > left.txt', 'ln -s old.txt link'], 'link'],
  ['a write through a link', ['ln -s old.txt left.txt', 'echo x > left.txt'], 'old.txt'],
  [
    'a repository of its own',
    [
      'echo x > left.txt',
      'git init --quiet sub',
      'cd sub',
      'git config user.email a@b.c',
      'git config user.name a',
      'echo y > y',
      'git add y',
      'git commit --quiet --message y',
    ],
    'sub',
  ],
  ['what was generated', ['echo x > left.txt', 'mkdir dist', 'echo y > dist/y'], 'dist/y'],
  ['other capitals', ['echo x > left.txt', 'echo y > LEFT.txt'], 'LEFT.txt'],
  ['an executable bit', ['echo x > left.txt', 'chmod +x old.txt'], 'old.txt'],
];

describe.concurrent('a task with planned paths', { timeout: 300_000 }, () => {
  it('goes back once with the list, and asks its planner for what it needs', async (test) => {
    const bench = openBench(test, [
      planned('left', 'right'),
      author('left', [shell('git mv old.txt left.txt', 'mkdir -p ignored', 'echo n > ignored/n'), ...commit()]),
      again('left', 'evidence', [shell('git mv left.txt old.txt', 'echo left > left.txt'), ...commit()]),
      author('right', [shell('echo right > right.txt', 'echo more >> lib/a.txt'), asks(), ...commit()]),
      answer(['lib/a.txt', '.git/hooks']),
      { when: ANSWERED, steps: [{ write: { path: 'right.txt', text: '{prompt}' } }, ...commit()] },
    ]);
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(turnsOf(ended, 'left')).toHaveLength(2);
    expect([bench.fileOnBranch('left.txt'), bench.fileOnBranch('old.txt'), bench.fileOnBranch('lib/a.txt')]).toEqual([
      ...['left', 'old', 'a\nmore'],
    ]);
    const prompt = bench.fileOnBranch('right.txt');
    expect(prompt).toContain('You may change only right.txt, lib/a.txt. Other agents work on the rest');
    expect(prompt).toContain('lib/a.txt added to the paths of right, by lead.');
    expect(prompt).toContain('\\".git/hooks\\" belongs to git or to squad');
    const show = await bench.run(['show', 'right']);
    expect(show.stdout).toMatch(/May change\n {2}right\.txt\n {2}lib\/a\.txt\n/);
  });

  it.for(some(OUTSIDE, 0, 1))(
    'fails after the second time with the list: %s',
    SPREAD,
    async ([, lines, path], test) => {
      const bench = openBench(test, [
        planned('left'),
        author('left', [shell(...lines), ...commit()]),
        again('left', 'evidence', [shell('echo again > again.txt'), ...commit()]),
      ]);
      const ended = await bench.runAll();
      expect(ended.code, ended.stderr).toBe(1);
      const { headline } = ended.lines.at(-1) as { headline: string };
      const why = 'only left.txt may change, but these files did: ';
      const [first = '', second = ''] = headline.replace(/; 1 stage.*/, '').split('; after that: ');
      expect([first.split(why)[1]?.split(', '), second.split(why)[1]?.split(', ')], headline).toEqual([
        expect.arrayContaining([path]),
        expect.arrayContaining([path, 'again.txt']),
      ]);
      expect(turnsOf(ended, 'left')).toHaveLength(2);
      expect(bench.fileOnBranch('left.txt')).toBeUndefined();
    },
  );

  const RIGHT = author('right', [shell('sleep 6', 'echo right > right.txt'), ...commit()]);
  const STRAYS = [shell('echo left > left.txt', 'echo more >> lib/a.txt'), asks(), ...commit()];
  const REVERTS: Entry = {
    when: ANSWERED,
    steps: [{ write: { path: 'left.txt', text: '{prompt}' } }, shell('git checkout -q HEAD~1 -- lib'), ...commit()],
  };

  const refusals = [
    ['refuses', [answer([])], 'as you need it'],
    ['names a path of open work', [answer(['right.txt'])], 'right changes it at the same time'],
    [
      'says nothing',
      [
        { when: '# Task answer-', steps: [{ answer: 'hm' }] },
        { when: 'did not have the required form', steps: [{ answer: 'hm' }] },
      ],
      'gave no answer',
    ],
  ] as const;
  it.for(some(refusals, 0, 1))('stays within its paths where its planner %s', ALL, async ([, entries, hears], test) => {
    const bench = openBench(test, [planned('left', 'right'), RIGHT, author('left', STRAYS), ...entries, REVERTS]);
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(bench.fileOnBranch('left.txt')).toContain(hears);
    expect(bench.fileOnBranch('lib/a.txt')).toBe('a');
  });

  const answers = [
    ['squad answer', ['answer', '--paths', 'lib/a.txt,.git/hooks', 'yes']],
    ['squad mail reply', ['mail', 'reply', '--as', 'MAIN', '--paths', 'lib/a.txt,.git/hooks', 'yes']],
    ['an edit in Studio', { verb: 'answer', answer: 'yes', paths: ['lib/a.txt', '.git/hooks'] }],
  ] as const;
  it.for(some(answers, 0, 1))('is widened by a person who is MAIN: %s', ALL, async ([, command], test) => {
    const bench = openBench(test, [
      planned('left'),
      author('left', [shell('echo left > left.txt', 'echo more >> lib/a.txt'), asks('MAIN'), ...commit()]),
      { when: ANSWERED, steps: [{ write: { path: 'left.txt', text: '{prompt}' } }, ...commit()] },
    ]);
    expect((await bench.runAll()).code).toBe(3);
    expect((await bench.run(['status'])).stdout).toContain('it may change only left.txt; --paths adds to that');
    if ('verb' in command) await editRun(bench, (await bench.status()).runId, command);
    else {
      const replied = await bench.run(command);
      expect(replied.code, replied.stderr).toBe(0);
    }
    const ended = await bench.run(['resume', '--json']);
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(bench.fileOnBranch('lib/a.txt')).toBe('a\nmore');
    const prompt = bench.fileOnBranch('left.txt');
    expect(prompt).toContain('lib/a.txt added to the paths of left, by MAIN.');
    expect(prompt).toContain('\\".git/hooks\\" belongs to git or to squad');
    expect((await bench.run(['show', 'left'])).stdout).toMatch(/May change\n {2}left\.txt\n {2}lib\/a\.txt\n/);
  });

  it('is not widened by an agent that did not plan it', ALL, async (test) => {
    const bench = openBench(test, [
      planned('left'),
      author('left', [shell('echo left > left.txt', 'echo more >> lib/a.txt'), asks('adviser'), ...commit()]),
      {
        when: '# Task answer-',
        steps: [tool('reply', { text: 'yes', reason: 'I say so', paths: ['lib/a.txt'] }), { answer: 'sent' }],
        structured: { answer: 'yes', doc_updated: false, doc_path: '', reason: 'I say so' },
      },
      { when: ANSWERED, steps: [{ answer: 'done' }] },
      again('left', 'evidence', [{ write: { path: 'left.txt', text: 'x' } }, { answer: 'done' }]),
    ]);
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(1);
    const status = await bench.status();
    expect(statusOf(status, 'left')).toBe('failed');
    expect(JSON.stringify(ended.lines.at(-1))).toContain('only left.txt may change, but these files did: lib/a.txt');
    expect(mailOf(bench, status.runId).messages).toEqual([
      ...['builder-1 → adviser: ask/clarify', 'adviser → builder-1: send/answer', 'ROUTER → builder-1: send'],
    ]);
  });

  it('is widened once wherever the engine is killed', NIGHT, async (test) => {
    let between = 0;
    for (let pass = 1; ; pass += 1) {
      const bench = openBench(test, [
        planned('left'),
        author('left', STRAYS),
        answer(['lib/a.txt']),
        { when: ANSWERED, steps: [{ answer: 'done' }] },
      ]);
      const first = await bench.runAll([], { SQUAD_FAILPOINTS: `graph.before-apply:${pass}=kill` });
      if (first.signal !== 'SIGKILL') break;
      if (eventsWith(bench, '"attempt-settled"', 'answer-') > 0 && eventsWith(bench, 'edit-task') === 0) between += 1;
      const ended = await bench.start(['resume', '--json']).finished;
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      expect(bench.fileOnBranch('lib/a.txt')).toBe('a\nmore');
      expect(eventsWith(bench, 'edit-task')).toBe(1);
      const { runId } = await bench.status();
      expect(mailOf(bench, runId).messages.filter((line) => line.startsWith('ROUTER'))).toHaveLength(1);
    }
    expect(between, 'kills between the answer and the paths').toBeGreaterThan(0);
  });
});
