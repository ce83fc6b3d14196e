import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { starterTeam } from '../../src/squad/preflight/team-starter/files.ts';
import { isTitle } from './is-title.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const plain = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();

interface Rule {
  readonly file: string;
  readonly rule: string;
}

/** Each rule of a document: a point of a list, a row of a table, a paragraph. What follows a line that says so is advice. */
function rulesOf(file: string, text: string): Rule[] {
  const rules: string[] = [];
  let isAdvice = false;
  // A block of settings, and the front of a skill, are read by programs.
  const read = text.replace(/^---\n[^]*?\n---\n/, '').replaceAll(/^```[^]*?^```$/gm, '');
  for (const block of read.split(/\n\n+/).map((one) => one.trim())) {
    if (/^(?:#|$)/.test(block)) isAdvice = false;
    else if (block.startsWith('Advice, which squad does not check')) isAdvice = true;
    else if (!isAdvice && !block.endsWith(':')) rules.push(...piecesOf(block));
  }
  // Of a role the first paragraph says what it is, and lines in angle brackets are for people to fill in.
  const own = file.endsWith('AGENTS.md') ? rules.slice(1) : rules;
  return own.filter((rule) => !/: <.+>$/.test(rule)).map((rule) => ({ file, rule: pointOf(rule) }));
}

function piecesOf(block: string): string[] {
  if (block.startsWith('|')) return block.split('\n').slice(2);
  return /^(?:-|\d+\.) /.test(block) ? block.split(/\n(?=(?:-|\d+\.) )/) : [block];
}

function pointOf(piece: string): string {
  return plain(
    piece
      .replace(/^(?:-|\d+\.) |^\| /, '')
      .replaceAll(/ \|/g, ':')
      .replace(/:$/, ''),
  );
}

const kept = readFileSync(at('docs/team-rules.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, file = '', rule = '', why = ''] = line.split('|').map((cell) => cell.trim());
    const [, path = '', title = ''] = /^`(test\/[^`]+\.test\.ts)`: (.+)$/.exec(why) ?? [];
    return { line, file: plain(file), rule: plain(rule), path, title };
  });

const rules = Object.entries(starterTeam())
  .filter(([file]) => /^(?:[^/]+|.*\/AGENTS|agent_utilization\/SKILL)\.md$/.test(file))
  .flatMap(([file, text]) => rulesOf(file, text));

describe('the rules of the documents that init writes for a team', () => {
  it('are found', () => {
    expect(rules.length).toBeGreaterThan(50);
    expect(
      rulesOf(
        'a.md',
        '# A\n\nOne\ntwo.\n\n- a\n- b\n  c\n\nAdvice, which squad does not check:\n\n- d\n\n## B\n\n1. e\n',
      ),
    ).toEqual(['One two.', 'a', 'b c', 'e'].map((rule) => ({ file: 'a.md', rule })));
  });

  it('are each named with a test that keeps them', () => {
    const bare = rules.filter(({ file, rule }) => !kept.some((row) => row.file === file && rule.startsWith(row.rule)));
    expect(bare).toEqual([]);
  });

  it('are the only ones that are named, each clearly', () => {
    const wrong = kept.filter(
      (row) => rules.filter(({ file, rule }) => file === row.file && rule.startsWith(row.rule)).length !== 1,
    );
    expect(wrong.map(({ line }) => line)).toEqual([]);
  });

  it('have tests that are there', () => {
    const gone = kept.filter(
      ({ path, title }) => !existsSync(at(path)) || !isTitle(readFileSync(at(path), 'utf8'), title),
    );
    expect(gone.map(({ line }) => line)).toEqual([]);
  });
});
