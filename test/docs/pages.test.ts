import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MOST = 160;

const found = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) => `docs/${path}`);
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'AGENTS.md', ...found].filter((path) =>
  path.endsWith('.md'),
);
/** Pages that scripts make. They also make parts of others, between `<!-- name: begin -->` and `<!-- name: end -->`. */
const MADE = ['docs/api.md', 'docs/commands.md', 'docs/protocol.md', 'docs/runtimes.md'];

/** The lines that people wrote outside code blocks, by number; the others are empty. */
function prose(page: string): string[] {
  let [isCode, isMade] = [false, false];
  return readFileSync(join(ROOT, page), 'utf8')
    .split('\n')
    .map((line) => {
      const [, mark] = /^<!-- [\w-]+: (begin|end) -->$/.exec(line) ?? [];
      if (mark !== undefined) isMade = mark === 'begin';
      if (!/^\s*(```|~~~)/.test(line)) return isCode || isMade ? '' : line;
      isCode = !isCode;
      return '';
    });
}

function cellsOf(line: string): string[] {
  if (!line.startsWith('|')) return [];
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** As GitHub names them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const line of prose(page)) {
    const [, title] = /^#{1,6} (.*)$/.exec(line) ?? [];
    if (title === undefined) continue;
    const words = title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
    const anchor = words.replaceAll(' ', '-');
    let name = anchor;
    for (let count = 1; anchors.has(name); count += 1) name = `${anchor}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

describe('pages written by people', () => {
  it(`have no table cell of more than ${MOST} characters`, () => {
    const long = pages
      .filter((page) => !MADE.includes(page))
      .flatMap((page) =>
        prose(page).flatMap((line, index) =>
          cellsOf(line)
            .filter((cell) => cell.length > MOST)
            .map((cell) => `${page}:${index + 1}: ${cell.length}: ${cell.slice(0, 60)}…`),
        ),
      );
    expect(long).toEqual([]);
  });

  it('link to files and headings that are there', () => {
    const known = new Map(pages.map((page) => [page, anchorsOf(page)]));
    const wrong = pages.flatMap((page) =>
      prose(page).flatMap((line, index) =>
        [...line.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' ')).matchAll(/\]\(([^()\s]+)\)/g)]
          .map(([, target = '']) => target)
          .filter((target) => !isThere(page, target, known))
          .map((target) => `${page}:${index + 1}: ${target}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

function isThere(page: string, target: string, known: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  if (/^[a-z]+:/.test(target)) return true;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
  if (anchor !== undefined) return known.get(file)?.has(anchor) ?? false;
  return known.has(file) || readdirSync(join(ROOT, dirname(file))).includes(file.split('/').at(-1) ?? '');
}
