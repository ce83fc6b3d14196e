import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}/${path}`, 'utf8');
const list = (folder: string, ending: RegExp) =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => `${folder}/${path}`);

const rows = [...read('CONTRIBUTING.md').matchAll(/^\| ([^|*]+) \| (name|prose|name, prose) \| [^|]+ \|$/gm)];
const wordsNotIn = (where: 'name' | 'prose') =>
  rows.filter(([, , places]) => places?.includes(where)).map(([, word]) => String(word));

const sources = list('src', /\.(ts|mjs|sh)$/);
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'AGENTS.md', ...list('docs', /\.md$/)];

/** `openDesk` → `open desk`; the letters of a name's words, in lower case. */
function wordsOf(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])|[_-]/g, '$1 $2').toLowerCase();
}

/** `mend` finds mend, mends and mended; `goes on` finds just that. */
function pattern(word: string): RegExp {
  return new RegExp(
    String.raw`(?<![\w/-])${wordsOf(word).replaceAll(' ', String.raw`\s+`)}(?:s|ed|d|ing)?(?![\w-])`,
    'i',
  );
}

function exportedNames(text: string): string[] {
  return [...text.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)].map(
    ([, name = '']) => name,
  );
}

describe('glossary', () => {
  it('has both tables', () => {
    expect(wordsNotIn('name').length).toBeGreaterThan(5);
    expect(wordsNotIn('prose').length).toBeGreaterThan(5);
  });

  it('finds a word in a name and in a sentence', () => {
    expect(wordsOf('openDesk')).toMatch(pattern('desk'));
    expect(wordsOf('letGoOf')).toMatch(pattern('letGo'));
    expect('the run goes on here').toMatch(pattern('goes on'));
    expect('a recommendation').not.toMatch(pattern('mend'));
  });

  it('is followed by the names that files export', () => {
    const wrong = sources.flatMap((file) =>
      exportedNames(read(file)).flatMap((name) =>
        wordsNotIn('name')
          .filter((word) => pattern(word).test(wordsOf(name)))
          .map((word) => `${file}: ${name} (${word})`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('is followed by help, errors, comments and docs', () => {
    const wrong = [...sources, ...pages.filter((page) => page !== 'CONTRIBUTING.md')].flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) =>
          wordsNotIn('prose')
            .filter((word) => pattern(word).test(line))
            .map((word) => `${file}:${index + 1}: ${word}`),
        ),
    );
    expect(wrong).toEqual([]);
  });
});
