// @module-tag all
import { describe, expect, it } from 'vitest';
import type { FolderFile } from '../../../src/model/folder.ts';
import { knowledgeFiles } from '../../../src/playbooks/session/knowledge-files.ts';
import type { Left } from '../../../src/playbooks/session/knowledge.ts';
import type { Session, SessionStart } from '../../../src/playbooks/session/session.ts';
import { sessionWith } from './session-board.ts';

describe('the files, which squad reads again at the next run,', () => {
  const MIB = 1024 * 1024;
  const left = (session: Session, index: number, more: Partial<Left> = {}): Left => ({
    ...{ task: session.tasks[index]!, role: session.roles[0]!, summary: 'Done.', artifact: null, memory: [] },
    ...{ wisdom: { learnings: [], decisions: [], issues: [] }, explorations: [], discussion: [], ...more },
  });
  const many = (count: number, start: Partial<SessionStart>, of: (index: number) => Partial<Left>) => {
    const session = sessionWith(
      Array.from({ length: count }, (_, index) => `t${index}`),
      start,
    );
    const all = session.tasks.map((_, index) => left(session, index, of(index)));
    const files = (most = count): FolderFile[] => [...knowledgeFiles({ session, left: all.slice(0, most) })];
    const textOf = (path: string): string => files().find((file) => file.path === path)?.text ?? '';
    return { files, textOf };
  };
  const bytesOf = (text: string): number => Buffer.byteLength(text);
  const long = 'ä'.repeat(20_000);

  it.each([
    ['', 0],
    ['# Old\n', 0],
    [`# Old\n${'x'.repeat(MIB - 60_000)}\n`, 60],
  ])('keep the newest of the wisdom below what the file held (%#)', (learnings, gone) => {
    const start = { wisdom: { learnings, decisions: '', issues: '' } };
    const { textOf } = many(60, start, (index) => ({
      wisdom: { learnings: [`${index} ${long}`], decisions: [], issues: [] },
    }));
    const text = textOf('wisdom/learnings.md');
    expect(text.startsWith(learnings)).toBe(true);
    expect(bytesOf(text)).toBeLessThan(MIB);
    const kept = [...text.matchAll(/^ {6}(\d+) /gm)].map(([, index]) => Number(index));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 60 - kept.length + index));
    expect(kept.length > 20).toBe(gone === 0);
    expect(text).toContain(`because there is no room for them: ${60 - kept.length}\n`);
  });

  it('keep the newest keys of the memory, and what it held', () => {
    const { textOf } = many(60, { memory: { old: [1], key0: 'older' } }, (index) => ({
      memory: [
        { key: `key${index}`, value: long },
        { key: 'last', value: `${index}` },
      ],
    }));
    const text = textOf('shared-memory.json');
    expect(bytesOf(text)).toBeLessThan(900 * 1024);
    const memory = JSON.parse(text) as Record<string, unknown>;
    expect(memory).toMatchObject({ old: [1], last: '59', key59: long, key40: long });
    expect(memory).not.toHaveProperty('key0');
    expect(Object.keys(memory).length).toBeGreaterThan(22);
  });

  it('are not written where what the folder held leaves no room', () => {
    const memory = { old: Array.from({ length: 400_000 }, (_, index) => index % 10) };
    const held = JSON.stringify(memory);
    const grown = { old: Array.from({ length: 250_000 }, () => '\u200b') };
    expect(bytesOf(held)).toBeLessThan(MIB);
    const more = { memory: [{ key: 'a', value: 'b' }] };
    expect(JSON.parse(many(1, { memory }, () => more).textOf('shared-memory.json'))).toEqual({ ...memory, a: 'b' });
    expect(many(1, { memory: grown }, () => more).files()).toEqual([]);
    expect(
      many(1, { wisdom: { learnings: 'x'.repeat(MIB), decisions: '', issues: '' } }, () => ({
        wisdom: { learnings: ['new'], decisions: [], issues: [] },
      })).files(),
    ).toEqual([]);
  });

  it('of tasks are as many as there is room for, and the oldest stay', () => {
    const { files, textOf } = many(700, { size: 8 * MIB }, (index) => ({
      artifact: { name: `a-${index}.md`, text: long },
      discussion: [{ name: `t${index}-1.md`, text: 'Short.' }],
    }));
    const all = files();
    expect(all.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(24 * MIB);
    const artifacts = all.filter(({ path }) => path.startsWith('artifacts/'));
    expect(artifacts.map(({ path }) => path)).toEqual(artifacts.map((_, index) => `artifacts/a-${index}.md`));
    expect(artifacts.length).toBeGreaterThan(400);
    const { left_out: leftOut, entries } = JSON.parse(textOf('explorations/cache-index.json')) as Record<
      string,
      unknown
    >;
    expect(leftOut).toMatchObject({ artifacts: 700 - artifacts.length });
    expect(entries).toEqual([]);
    for (const most of [1, 350, 699]) {
      const paths = new Map(all.map(({ path, text }) => [path, text]));
      for (const { path, text } of files(most)) {
        if (path.startsWith('artifacts/')) expect(paths.get(path) === text).toBe(true);
      }
    }
  });

  it('of explorations are those that the index names', () => {
    const index = { left_out: { explorations: 3 }, entries: [{ angle: 'old' }] };
    const { files, textOf } = many(200, { explorations: { index, files: [] } }, (task) => ({
      explorations: Array.from({ length: 50 }, (_, one) => ({
        ...{ name: `explore-${task}-${one}.json`, angle: 'a', keywords: [], findings: 'Nothing.' },
      })),
    }));
    const own = files().filter(({ path }) => path.startsWith('explorations/explore-'));
    const text = textOf('explorations/cache-index.json');
    expect(bytesOf(text)).toBeLessThan(MIB);
    const { left_out: leftOut, entries } = JSON.parse(text) as Record<string, { file: string }[]>;
    expect(entries?.slice(1).map(({ file }) => `explorations/${file}`)).toEqual(own.map(({ path }) => path));
    expect(leftOut).toEqual({ explorations: 10_000 - own.length });
    expect(text.match(/left_out/g)).toHaveLength(1);
    const full = many(
      2,
      {
        explorations: {
          index: null,
          files: Array.from({ length: 8_999 }, () => ({ name: 'explore-x.json', text: '' })),
        },
      },
      (task) => ({
        explorations: [{ name: `explore-${task}.json`, angle: 'a', keywords: [], findings: '' }],
      }),
    );
    expect(full.files().map(({ path }) => path)).toEqual([
      'explorations/explore-0.json',
      'explorations/cache-index.json',
    ]);
  });

  it.each([0, 24, 28, 31, 31.9])('are no more than squad reads of a folder that held %d MiB', (held) => {
    const size = held * MIB;
    const memory = { api: Array.from({ length: 100_000 }, () => 1) };
    const start = { size, memory, explorations: { index: { entries: [{ angle: [memory.api] }] }, files: [] } };
    const before = 2 * bytesOf(JSON.stringify(memory.api));
    const { files } = many(700, start, (index) => ({
      ...{ artifact: { name: `a-${index}.md`, text: long }, memory: [{ key: `k${index}`, value: long }] },
      ...{ wisdom: { learnings: [long], decisions: [long], issues: [long] } },
      explorations: [{ name: `explore-${index}.json`, angle: 'a', keywords: ['k'.repeat(8_000)], findings: '' }],
    }));
    const bytes = files().reduce((sum, { text }) => sum + bytesOf(text), 0);
    // 1 MiB is for `team-session.json`, or what is left of it.
    expect(size + bytes - before).toBeLessThan(Math.max(31 * MIB, size) + 4096);
    expect(JSON.parse(files().find(({ path }) => path === 'shared-memory.json')?.text ?? '')).toMatchObject(memory);
  });

  it('are the same from the beginning as step by step, also where much is left out', () => {
    const of = (index: number): Partial<Left> => ({
      memory: [{ key: `k${index % 50}`, value: `${index}${long}` }],
      wisdom: { learnings: [`${index} ${long}`], decisions: [], issues: [] },
    });
    const stepped = many(80, {}, of);
    for (let most = 0; most < 80; most += 1) stepped.files(most);
    expect(stepped.files()).toEqual(many(80, {}, of).files());
  });
});
