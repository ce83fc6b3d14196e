import { describe, expect, it } from 'vitest';
import { backgroundOf } from '../../../src/playbooks/session/background.ts';
import { checkSession } from '../../../src/playbooks/session/check-session.ts';
import { knowledgeFiles } from '../../../src/playbooks/session/knowledge-files.ts';
import { knowledgeOf } from '../../../src/playbooks/session/knowledge.ts';
import type { WorkerAnswer } from '../../../src/playbooks/session/answer.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { foldEntry } from '../../../src/rules/plan-step.ts';
import { createView } from '../../../src/rules/view.ts';
import type { FolderFile } from '../../../src/model/folder.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import { planEntrySchema } from '../../../src/model/plan/entry.ts';
import { sessionFiles } from '../../../src/playbooks/session/session-files.ts';
import type { Session } from '../../../src/playbooks/session/session.ts';
import { plainJson } from '../../../src/text/json.ts';
import { DIAMOND, fullAnswer, sessionTexts } from '../../support/session-folder.ts';
import type { Script } from '../simulator.ts';
import { SessionBoard, sessionWith } from './session-board.ts';
import { playSession, sessionFrom } from './support.ts';

const FULL: Partial<WorkerAnswer> = {
  summary: 'It is specified.',
  artifact: { name: 'Spec', markdown: '# Spec\n\nIt reads lines.' },
  memory: [{ key: 'port', value: '8080' }],
  learnings: ['Lines end with LF.'],
  decisions: ['One file.\nNo folder.'],
  issues: ['It is slow.'],
  explorations: [{ angle: 'Entry points', keywords: ['main', ' '], findings: 'There is one.' }],
  discussion: ['# Round 1\n\nOpen.', '# Round 2\n\nAgreed.'],
};

function filesOf(board: SessionBoard): Record<string, string> {
  return Object.fromEntries(
    knowledgeFiles(knowledgeOf(board.session, board.view())).map(({ path, text }) => [path, text]),
  );
}

describe('what a task leaves in the folder', () => {
  it('is nothing before it is done', () => {
    expect(filesOf(new SessionBoard(sessionWith(['a'], { memory: { x: 1 } })))).toEqual({});
  });

  it('is one file for each thing of its own, and a part of those that all share', () => {
    const board = new SessionBoard(sessionWith(['a', 'b']));
    board.answer('a', FULL);
    expect(filesOf(board)).toEqual({
      'artifacts/Spec.md': '# Spec\n\nIt reads lines.\n',
      'discussions/a-1.md': '# Round 1\n\nOpen.\n',
      'discussions/a-2.md': '# Round 2\n\nAgreed.\n',
      'explorations/explore-Entry-points.json': `${JSON.stringify(
        { angle: 'Entry points', keywords: ['main'], findings: 'There is one.', task: 'A', role: 'Writer' },
        null,
        2,
      )}\n`,
      'shared-memory.json': '{\n  "port": "8080"\n}\n',
      'wisdom/learnings.md': '- A (Writer)\n\n      Lines end with LF.\n',
      'wisdom/decisions.md': '- A (Writer)\n\n      One file.\n      No folder.\n',
      'wisdom/issues.md': '- A (Writer)\n\n      It is slow.\n',
      'explorations/cache-index.json': `${JSON.stringify(
        {
          entries: [
            {
              ...{ angle: 'Entry points', keywords: ['main'], file: 'explore-Entry-points.json' },
              ...{ task: 'A', role: 'Writer' },
            },
          ],
        },
        null,
        2,
      )}\n`,
    });
  });

  it('gives what comes later a name of its own, and the newest value to a key', () => {
    const board = new SessionBoard(sessionWith(['a', 'b']));
    board.answer('b', FULL);
    const before = filesOf(board);
    board.answer('a', {
      ...FULL,
      artifact: { name: 'SPEC.md', markdown: 'Other' },
      memory: [{ key: 'port', value: '9' }],
    });
    const files = filesOf(board);
    expect(files).toMatchObject({
      'artifacts/Spec.md': before['artifacts/Spec.md'],
      'artifacts/SPEC-2.md': 'Other\n',
      'discussions/b-1.md': before['discussions/b-1.md'],
      'explorations/explore-Entry-points-2.json': expect.stringContaining('"task": "A"') as string,
      'shared-memory.json': '{\n  "port": "9"\n}\n',
      'wisdom/learnings.md': '- B (Writer)\n\n      Lines end with LF.\n\n- A (Writer)\n\n      Lines end with LF.\n',
    });
    expect(JSON.parse(files['explorations/cache-index.json'] ?? '')).toMatchObject({
      entries: [{ task: 'B' }, { task: 'A' }],
    });
  });

  it('stands after what the folder held, which keeps its names and values', () => {
    const start = {
      memory: { port: { tcp: [1, 2] }, other: 'x' },
      wisdom: { learnings: '# Learnings\n\n- one', decisions: 'Old\n', issues: '' },
      explorations: {
        index: { version: 1, entries: [{ angle: 'old' }] },
        files: [{ name: 'EXPLORE-entry-points.json', text: '{}' }],
      },
      artifacts: [{ name: 'spec.md', text: 'old', isCut: false }],
      discussions: ['a-1.md'],
    };
    const board = new SessionBoard(sessionWith(['a', 'b'], start));
    board.answer('b', {});
    expect(filesOf(board)).toEqual({});
    board.answer('a', FULL);
    const files = filesOf(board);
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining([
        'artifacts/Spec-2.md',
        'discussions/a-1-2.md',
        'explorations/explore-Entry-points-2.json',
      ]),
    );
    expect(files['wisdom/learnings.md']).toBe('# Learnings\n\n- one\n\n- A (Writer)\n\n      Lines end with LF.\n');
    expect(files['wisdom/decisions.md']).toMatch(/^Old\n\n- A/);
    expect(JSON.parse(files['shared-memory.json'] ?? '')).toEqual({ port: '8080', other: 'x' });
    expect(JSON.parse(files['explorations/cache-index.json'] ?? '')).toMatchObject({
      version: 1,
      entries: [{ angle: 'old' }, { angle: 'Entry points' }],
    });
  });

  it.each([
    ['a list', [{ angle: 'old' }], { entries: [{ angle: 'old' }, {}] }],
    ['a text', 'old', { before: 'old', entries: [{}] }],
    ['entries of another form', { entries: { old: 1 } }, { entries: [{ old: 1 }, {}] }],
  ])('keeps an index that is %s', (_what, index, expected) => {
    const board = new SessionBoard(sessionWith(['a'], { explorations: { index, files: [] } }));
    board.answer('a', FULL);
    expect(JSON.parse(filesOf(board)['explorations/cache-index.json'] ?? '')).toMatchObject(expected);
  });
});

describe('numbers that the folder held', () => {
  const id = '9007199254740993';
  const texts = {
    'shared-memory.json': `{"port": 1.0, "ids": [12345678901234567890, {"id": ${id}}], "far": 1e999, "one": 1}`,
    'explorations/cache-index.json': `{"version": 2.0, "entries": [{"angle": "old", "id": ${id}}]}`,
  };
  const read = (more: object): Session => {
    const files = Object.entries({ ...sessionTexts(DIAMOND), ...more }).map(
      ([file, text]) => [file, { text }] as const,
    );
    const checked = checkSession({ folder: 'team', files: new Map(files), folders: ['', 'roles'] });
    if (!checked.ok) throw new Error(checked.first);
    return plainJson(checked.session) as unknown as Session;
  };
  const board = (): SessionBoard => new SessionBoard(sessionWith(['a', 'b'], read(texts).start));

  it('stay as they stood when squad writes below them', () => {
    const played = board();
    played.answer('a', { ...FULL, memory: [{ key: 'port', value: '8080' }] });
    const files = filesOf(played);
    expect(files['shared-memory.json']).toBe(
      `{\n  "port": "8080",\n  "ids": [\n    12345678901234567890,\n    {\n      "id": ${id}\n    }\n  ],\n  "far": 1e999,\n  "one": 1\n}\n`,
    );
    expect(files['explorations/cache-index.json']).toContain(
      `{\n  "version": 2.0,\n  "entries": [\n    {\n      "angle": "old",\n      "id": ${id}\n    },\n`,
    );
  });

  it('are in the prompt as they stood', () => {
    const played = board();
    const view = played.view();
    expect(backgroundOf(played.session, view, view.task('a')!)).toContain(`"id":${id}`);
  });

  it('are stored apart only if they would change', () => {
    expect(read(texts).start.texts).toEqual(texts);
    expect(read({ 'shared-memory.json': '{"a": [1, 0.5, -3e-7]}' }).start).not.toHaveProperty('texts');
  });
});

describe('what does not count', () => {
  it('is a turn that was lost, and one whose answer is refused: the next one leaves everything once', () => {
    const board = new SessionBoard(sessionWith(['a']));
    board.lose('a');
    expect(filesOf(board)).toEqual({});
    board.answer('a', { ...FULL, learnings: ['x'.repeat(65_537)] });
    expect(board.view().task('a')).toMatchObject({ status: 'ready' });
    expect(filesOf(board)).toEqual({});
    board.answer('a', FULL);
    const once = new SessionBoard(sessionWith(['a']));
    once.answer('a', FULL);
    expect(filesOf(board)).toEqual(filesOf(once));
  });

  it('is an end that comes a second time', () => {
    const board = new SessionBoard(sessionWith(['a']));
    board.answer('a', FULL);
    const files = filesOf(board);
    board.answer('a', { ...FULL, learnings: ['again'] });
    expect(filesOf(board)).toEqual(files);
  });

  it('is the answer of a task that has failed after it', () => {
    const board = new SessionBoard(sessionWith(['a']));
    board.answer('a', FULL);
    board.apply('a', { type: 'reopened', feedback: 'no', session: 'same' });
    expect(filesOf(board)).toEqual({});
    board.answer('a', { learnings: ['second'] });
    expect(Object.keys(filesOf(board))).toEqual(['wisdom/learnings.md']);
  });
});

describe('the fold', () => {
  it('gives the same objects until a task is done, and keeps those of tasks that were', () => {
    const board = new SessionBoard(sessionWith(['a', 'b', 'c']));
    board.answer('a', FULL);
    const knowledge = knowledgeOf(board.session, board.view());
    const files = knowledgeFiles(knowledge);
    board.lose('b');
    expect(knowledgeOf(board.session, board.view())).toBe(knowledge);
    expect(knowledgeFiles(knowledge)).toBe(files);
    board.answer('c', FULL);
    const after = knowledgeFiles(knowledgeOf(board.session, board.view()));
    expect(after.find(({ path }) => path === 'artifacts/Spec.md')).toBe(
      files.find(({ path }) => path === 'artifacts/Spec.md'),
    );
  });

  it('is the same from the beginning as step by step', () => {
    const slugs = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const session = sessionWith(slugs);
    const stepped = new SessionBoard(session);
    const whole = new SessionBoard(session);
    for (const slug of slugs) {
      stepped.answer(slug, FULL);
      filesOf(stepped);
      whole.answer(slug, FULL);
    }
    expect(filesOf(whole)).toEqual(filesOf(stepped));
  });
});

describe('a whole run', () => {
  const session = sessionFrom(DIAMOND);
  const folderOf = (played: Session, board: Board): readonly FolderFile[] =>
    sessionFiles(played, createView(board), { status: 'finished' });

  it('leaves the same whatever was lost, refused or repeated on the way', () => {
    // One after the other, so that they end in the same order.
    const tasks = DIAMOND.tasks.map((task, index) => ({
      ...task,
      needs: DIAMOND.tasks.slice(0, index).map(({ id }) => id),
    }));
    const chain = sessionFrom({ ...DIAMOND, tasks });
    const clean = playSession(chain);
    const tries = new Map<string, number>();
    const failure = { kind: 'crashed', message: 'gone', mayHaveActed: true } as const;
    const turn: Script['turn'] = ({ task }) => {
      const number = (tries.get(task) ?? 0) + 1;
      tries.set(task, number);
      if (number === 1) return { outcome: 'failed', failure };
      return number === 2 ? { output: plainJson({ ...fullAnswer(task), learnings: ['x'.repeat(65_537)] }) } : undefined;
    };
    const rough = playSession(chain, { script: { turn } });
    expect([...tries.values()]).toEqual(DIAMOND.tasks.map(() => 3));
    expect(folderOf(chain, rough.board)).toEqual(folderOf(chain, clean.board));
    expect(folderOf(chain, clean.board)).toHaveLength(6 * 3 + 5 + 1);
  });

  it('leaves the same when it is read from the ledger again, at each step', () => {
    const { board, entries } = playSession(session);
    const stored = planEntrySchema.array().parse(JSON.parse(JSON.stringify(entries)));
    const again = JSON.parse(JSON.stringify(session)) as Session;
    let [live, read] = [createBoard(board.facts), createBoard(board.facts)];
    for (const [index, entry] of stored.entries()) {
      live = foldEntry(live, entries[index]!);
      read = foldEntry(read, entry);
      expect(folderOf(again, read)).toEqual(folderOf(session, live));
      // An engine that has just started knows of no step before.
      if (index % 10 === 0) expect(folderOf({ ...again }, read)).toEqual(folderOf(session, live));
    }
    expect(folderOf(again, read)).toEqual(folderOf(session, board));
  });
});

describe('the background of a task', () => {
  const of = (board: SessionBoard, slug: string): string => {
    const view = board.view();
    return backgroundOf(board.session, view, view.task(slug)!);
  };

  it('is empty while nobody has left anything', () => {
    expect(of(new SessionBoard(sessionWith(['a'])), 'a')).toBe('');
  });

  it('brings what its needs have left, and what everybody has', () => {
    const board = new SessionBoard(sessionWith(['a', 'b: a', 'c']));
    board.answer('a', FULL);
    board.answer('c', { ...FULL, artifact: { name: 'c', markdown: 'Of c.' }, learnings: ['Newer.'] });
    const text = of(board, 'b');
    expect(text).toContain('A (Writer) says:\n<left>\nIt is specified.\n</left>');
    expect(text).toContain('The artifact `Spec.md` of A (Writer):\n<left>\n# Spec\n\nIt reads lines.\n</left>');
    expect(text).not.toContain('Of c.');
    expect(text).toContain('<left>\n"port": "8080"\n</left>');
    expect(text).toContain('<left>\nC (Writer): Newer.\nA (Writer): Lines end with LF.\n</left>');
    expect(text).toContain('C (Writer): One file.\n  No folder.');
    expect(text).toContain('Entry points\nmain\n\nThere is one.');
    expect(of(board, 'c')).not.toContain('Spec.md');
  });

  it('cuts an artifact after 16 KiB and says so', () => {
    const board = new SessionBoard(sessionWith(['a', 'b: a', 'c: a']));
    const markdown = (bytes: number): string => 'é'.repeat(bytes / 2);
    board.answer('a', { artifact: { name: 'x', markdown: markdown(16_384) } });
    expect(of(board, 'b')).not.toContain('This is cut');
    const long = new SessionBoard(sessionWith(['a', 'b: a', 'c: a']));
    long.answer('a', { artifact: { name: 'x', markdown: `${markdown(16_384)}!` } });
    expect(of(long, 'b')).toContain(`${markdown(16_384)}\n</left>\nThis is cut: only its first 16 KiB are here.`);
  });

  it('brings what the folder held for a need that was done before', () => {
    const artifacts = [
      { name: 'other.md', text: 'Other.', isCut: false },
      { name: 'a-report.md', text: 'Begun', isCut: true },
    ];
    const start = { artifacts, memory: { old: [1] }, wisdom: { learnings: '- old', decisions: '', issues: '' } };
    const board = new SessionBoard(sessionWith(['a', 'b: a', 'c'], start, { completed: ['a'] }));
    const text = of(board, 'b');
    expect(text).toMatch(/`a-report\.md`, from before this run:\n<left>\nBegun\n<\/left>\nThis is cut[^]*`other\.md`/);
    expect(text).toContain('"old": [1]');
    expect(text).toContain('From before this run:\n<left>\n- old\n</left>');
    expect(of(board, 'c')).not.toContain('a-report.md');
  });

  it('is bounded, whatever they have left', () => {
    const slugs = Array.from({ length: 200 }, (_, index) => `t${index}`);
    const board = new SessionBoard(sessionWith([...slugs, `last: ${slugs.join(' ')}`]));
    const big = 'x'.repeat(60_000);
    for (const slug of slugs) {
      const explorations = [{ angle: 'a', keywords: [], findings: big }];
      const wisdom = { learnings: [big], decisions: [big], issues: [big] };
      board.answer(slug, {
        ...wisdom,
        explorations,
        summary: big,
        artifact: { name: 'x', markdown: big },
        memory: [{ key: slug, value: big }],
      });
    }
    const text = of(board, 'last');
    expect(Buffer.byteLength(text)).toBeLessThan(250_000);
    expect(text.match(/more are left out: there is no room\./g)).toHaveLength(6);
  });
});
