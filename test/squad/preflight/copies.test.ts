// @module-tag all
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trustLines } from '../../../src/squad/preflight/consent.ts';
import { openBench, type Bench } from './support.ts';

const IGNORED = '.env*\nlocal/\n*.pem\nmodules/\n!.env.example\n';

/** A checkout with ignored, tracked and other files. */
function benchWith(files: Readonly<Record<string, string>>): Bench {
  const bench = openBench();
  bench.write('.gitignore', IGNORED);
  const all = { '.env': 'A=1\n', 'local/a.json': '{}', 'local/deep/b.json': '{}', 'modules/x/.env': 'B=2\n', ...files };
  for (const [path, text] of Object.entries({ 'key.pem': 'key', ...all })) {
    mkdirSync(join(bench.repository, path, '..'), { recursive: true });
    bench.write(path, text);
  }
  return bench;
}

const copiedBy = async (bench: Bench): Promise<string[]> => {
  const { definition } = await bench.run({ yes: true });
  return (definition.copied ?? []).map(({ path }) => path);
};

describe('a list of ignored files', () => {
  it.each<[patterns: string, copied: readonly string[]]>([
    ['.env', ['.env']],
    ['/.env\n', ['.env']],
    ['# none\n\n', []],
    ['.env*\n*.pem\n!key.pem\n', ['.env']],
    ['local', ['local/a.json', 'local/deep/b.json']],
    ['local/', ['local/a.json', 'local/deep/b.json']],
    ['local/*.json', ['local/a.json']],
    ['loc*/**/b.json', ['local/deep/b.json']],
    ['modules/x/.env', ['modules/x/.env']],
    ['*.pem\r\n.env\r\n', ['.env', 'key.pem']],
    ['[.]env', ['.env']],
    ['objective.md\nnothing-here', []],
  ])('is read as git reads it: %j', async (patterns, copied) => {
    const bench = benchWith({ '.worktreeinclude': patterns });
    expect(await copiedBy(bench)).toEqual(copied);
    const list = patterns.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
    if (copied.length === 0) return;
    bench.write('.worktreeinclude', '');
    bench.write('squad.yaml', JSON.stringify({ copy: list }));
    expect(await copiedBy(bench)).toEqual(copied);
  });

  it('adds to that of squad.yaml, and both are shown with sizes; consent does not hang on these', async () => {
    const bench = benchWith({
      '.worktreeinclude': '# mine\n.env\n',
      'squad.yaml': 'version: 1\ncopy: [key.pem, .env]\n',
    });
    const asked = await bench.run({ yes: true });
    expect(trustLines(asked.items)).toEqual([
      'squad.yaml:2: copy: ignored files by the patterns key.pem, .env',
      '.worktreeinclude:2: copy: ignored files by the patterns .env',
      '.worktreeinclude:2: copy: .env, into folders in which work is built or checked (4 B)',
      'squad.yaml:2: copy: key.pem, into folders in which work is built or checked (3 B)',
    ]);
    bench.write('.env', 'A=10\n');
    const later = await bench.run({ yes: true });
    expect(later.definition.copied?.[0]).not.toEqual(asked.definition.copied?.[0]);
    expect(later.definition.trusted).toBe(asked.definition.trusted);
    bench.write('.worktreeinclude', '.en?\n');
    expect((await bench.run({ yes: true })).definition.trusted).not.toBe(asked.definition.trusted);
  });

  it.each<[what: string, list: string, make: (at: string) => void, says: string]>([
    ['leaves the repository', 'a/../../b', () => undefined, 'a/../../b leaves the repository'],
    ['a home', '~/.env', () => undefined, '~/.env is no path in the repository'],
    ['git’s own folder', '.git/config', () => undefined, '.git/config names git’s own folder'],
    [
      'a link',
      '.env.l',
      (at) => symlinkSync('/etc/hostname', join(at, '.env.l')),
      '.env.l is a link; squad copies plain',
    ],
    ['a link on the way', 'local/l/x', (at) => symlinkSync('/etc', join(at, 'local/l')), 'local/l/x is not there'],
    ['a pipe', '.env.p', (at) => execFileSync('mkfifo', [join(at, '.env.p')]), '.env.p is not a regular file; squad'],
    ['too large', '.env.b', (at) => large(join(at, '.env.b')), '.env.b is larger than 10 MB; squad copies plain files'],
    ['tracked', 'objective.md', () => undefined, 'objective.md is tracked by git, so each folder has it already'],
    ['not ignored', 'x.txt', (at) => writeFileSync(join(at, 'x.txt'), ''), 'x.txt is not ignored by git, so an agent'],
    ['not there', '.env.none', () => undefined, '.env.none is not there'],
    ['too many', 'local', (at) => many(at, 101), 'more than 100 files are to be copied, such as local/'],
    ['too much', 'local', (at) => much(at), 'the files to copy have more than 52 MB together'],
    ['far too many', 'local', (at) => many(at, 20_001), 'local/ holds more ignored files than squad looks at'],
  ])('that names what cannot be copied is refused with its place: %s', async (_, list, make, says) => {
    const bench = benchWith({ 'squad.yaml': `copy: [${JSON.stringify(list)}]\n` });
    make(bench.repository);
    const error = await bench.refusal({ yes: true });
    expect(error.code).toBe('bad-input');
    expect(error.message).toContain(`squad.yaml:1: ${says}`);
    expect(error.next).toBeDefined();
    bench.write('squad.yaml', 'version: 1\n');
    bench.write('.worktreeinclude', `\n${list}\n`);
    // Other tools read this file, too: a name that fits nothing here is no reason to stop.
    const isNote = ['tracked', 'not ignored', 'not there', 'a link on the way'].includes(_);
    if (!isNote) return expect((await bench.refusal({ yes: true })).message).toMatch(/\.worktreeinclude:[12]: /);
    const { warnings, definition } = await bench.run({ yes: true });
    expect(warnings.map(({ text }) => text).join('\n')).toContain(`.worktreeinclude:2: ${says}`);
    return expect(definition.copied).toBeUndefined();
  });
});

function large(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, 10 * 1024 * 1024 + 1);
}

function many(at: string, count: number): void {
  for (let index = 0; index < count; index += 1) writeFileSync(join(at, `local/${index}.json`), '');
}

function much(at: string): void {
  for (let index = 0; index < 6; index += 1) {
    writeFileSync(join(at, `local/${index}.bin`), '');
    truncateSync(join(at, `local/${index}.bin`), 9 * 1024 * 1024);
  }
}
