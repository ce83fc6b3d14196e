import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { bindState, findState, isBoundTo, isStateId, restoreId } from '../../src/substrate/system/files/state-place.ts';
import { temporaryFolder } from './ledger/support.ts';

function place() {
  const root = temporaryFolder();
  const state = join(root, 'state');
  const common = join(root, 'repository', '.git');
  mkdirSync(common, { recursive: true });
  return { root, state, common, id: join(common, 'squad', 'id') };
}

it('a repository has no state before squad binds it, and one place from then on', () => {
  const { state, common, id } = place();
  expect(findState(state, common)).toMatchObject({ type: 'none', why: 'no-id' });
  expect(existsSync(id)).toBe(false);
  const bound = bindState(state, common, 'Äpfel & Öl 2');
  expect(bound.id).toMatch(/^pfel-l-2-[0-9a-f]{16}$/);
  expect(findState(state, common)).toEqual({ type: 'known', ...bound });
  expect(bindState(state, common, 'other')).toEqual(bound);
  expect(isBoundTo(bound.directory, common)).toBe(true);
});

it.each(['', '日本', '../../etc', '-x', 'a'.repeat(300), 'none'])('an id made of the name %j is one', (name) => {
  const { state, common } = place();
  const { id } = bindState(state, common, name);
  expect(isStateId(id)).toBe(true);
  expect(findState(state, common)).toMatchObject({ type: 'known', id });
});

it('a repository that was moved keeps its place, and binds it anew', () => {
  const { root, state, common } = place();
  const bound = bindState(state, common, 'r');
  renameSync(join(root, 'repository'), join(root, 'moved'));
  const moved = join(root, 'moved', '.git');
  expect(findState(state, moved)).toEqual({ type: 'known', ...bound, from: common });
  expect(isBoundTo(bound.directory, common)).toBe(false);
  expect(bindState(state, moved, 'r')).toEqual(bound);
  expect(findState(state, moved)).toEqual({ type: 'known', ...bound });
});

it('a copy has no runs, and gets an id of its own', () => {
  const { root, state, common } = place();
  const bound = bindState(state, common, 'r');
  const copy = join(root, 'copy', '.git');
  cpSync(common, copy, { recursive: true });
  expect(findState(state, copy)).toMatchObject({ type: 'none', why: 'copy', of: common });
  const own = bindState(state, copy, 'r');
  expect(own.id).not.toBe(bound.id);
  expect(findState(state, common)).toEqual({ type: 'known', ...bound });
  expect(findState(state, copy)).toEqual({ type: 'known', ...own });
});

it('of a repository and its copy, the one that was renamed is the repository', () => {
  const { root, state, common } = place();
  const bound = bindState(state, common, 'r');
  renameSync(join(root, 'repository'), join(root, 'moved'));
  cpSync(join(root, 'moved'), join(root, 'copy'), { recursive: true });
  expect(bindState(state, join(root, 'moved', '.git'), 'r')).toEqual(bound);
  expect(findState(state, join(root, 'copy', '.git'))).toMatchObject({ type: 'none', why: 'copy' });
});

it('the id of another state folder, or of a stranger, has no runs', () => {
  const { root, state, common, id } = place();
  const bound = bindState(state, common, 'r');
  const other = join(root, 'other-state');
  expect(findState(other, common)).toMatchObject({ type: 'none', why: 'unknown' });
  expect(bindState(other, common, 'r').id).toBe(bound.id);
  expect(readFileSync(id, 'utf8')).toBe(`${bound.id}\n`);
});

it.each([
  ['a path', '../../etc\n'],
  ['nothing', ''],
  ['many bytes', `${'a'.repeat(100_000)}-0123456789abcdef\n`],
  ['two lines', 'a-0123456789abcdef\nb-0123456789abcdef\n'],
])('%s in the place of the id counts as none, and is replaced', (_, text) => {
  const { state, common, id } = place();
  mkdirSync(join(common, 'squad'));
  writeFileSync(id, text);
  expect(findState(state, common)).toMatchObject({ type: 'none', why: 'no-id' });
  expect(isStateId(bindState(state, common, 'r').id)).toBe(true);
});

it('a link in the place of the id is not followed', () => {
  const { root, state, common, id } = place();
  const bound = bindState(state, common, 'r');
  const other = join(root, 'other', '.git');
  mkdirSync(join(other, 'squad'), { recursive: true });
  symlinkSync(id, join(other, 'squad', 'id'));
  expect(findState(state, other)).toMatchObject({ type: 'none', why: 'no-id' });
  const own = bindState(state, other, 'o');
  expect(own.id).not.toBe(bound.id);
  expect(readFileSync(id, 'utf8')).toBe(`${bound.id}\n`);
});

it.each([
  ['a file', (folder: string) => writeFileSync(folder, 'x')],
  ['a pipe', (folder: string) => execFileSync('mkfifo', [folder])],
  ['a link to a folder', (folder: string, root: string) => symlinkSync(root, folder)],
  ['a link to nothing', (folder: string) => symlinkSync(`${folder}.nowhere`, folder)],
  ['a link to itself', (folder: string) => symlinkSync(folder, folder)],
])('%s in the place of the folder with the id is replaced when the repository is bound', (_, harm) => {
  const { root, state, common } = place();
  bindState(state, common, 'r');
  rmSync(join(common, 'squad'), { recursive: true });
  harm(join(common, 'squad'), root);
  expect(findState(state, common).type).toBe('none');
  const bound = bindState(state, common, 'r');
  expect(findState(state, common)).toEqual({ type: 'known', ...bound });
});

it('an id that a person deleted is written again, and that of another repository is not', () => {
  const { root, state, common } = place();
  const { directory } = bindState(state, common, 'r');
  rmSync(join(common, 'squad'), { recursive: true });
  expect(restoreId(directory, common)).toBe(true);
  expect(isBoundTo(directory, common)).toBe(true);
  expect(restoreId(directory, common)).toBe(false);
  const other = join(root, 'other', '.git');
  mkdirSync(other, { recursive: true });
  expect(restoreId(directory, other)).toBe(false);
  expect(restoreId(directory, join(root, 'gone', '.git'))).toBe(false);
});

it('whatever people rename, copy and delete: no two repositories share a place, and none loses its own by a rename', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const action = fc.oneof(
    fc.record({ do: fc.constant('bind' as const), at: name, to: name }),
    fc.record({ do: fc.constant('move' as const), at: name, to: name }),
    fc.record({ do: fc.constant('copy' as const), at: name, to: name }),
    fc.record({ do: fc.constant('delete' as const), at: name, to: name }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
      const root = temporaryFolder();
      const common = (at: string): string => join(root, at, '.git');
      const bind = (at: string): string => bindState(join(root, 'state'), common(at), at).id;
      mkdirSync(common('a'), { recursive: true });
      /** By name: the id that was bound there, which a rename carries along. */
      const owned = new Map<string, string>();
      for (const { do: verb, at, to } of actions) {
        if (!existsSync(common(at))) continue;
        const known = owned.get(at);
        if (verb === 'bind') {
          const id = bind(at);
          if (known !== undefined) expect(id).toBe(known);
          owned.set(at, id);
        } else if (verb === 'delete') {
          rmSync(join(root, at), { recursive: true });
          owned.delete(at);
        } else if (verb === 'copy' && !existsSync(common(to))) {
          cpSync(join(root, at), join(root, to), { recursive: true });
        } else if (verb === 'move' && !existsSync(common(to))) {
          renameSync(join(root, at), join(root, to));
          owned.delete(at);
          // The place learns of the move at the next use.
          if (known !== undefined) expect(bind(to)).toBe(known);
          if (known !== undefined) owned.set(to, known);
        }
        expect(new Set(owned.values()).size).toBe(owned.size);
      }
    }),
    { numRuns: 60 },
  );
});
