import type { Criterion, Deadline, Objective } from '../../model/objective.ts';
import { plainLine } from '../../text/plain-text.ts';
import { quote, type Problem } from '../../text/problem.ts';
import { nearest } from '../../text/nearest.ts';
import { parseCriterion, plainItem } from './criterion.ts';
import { parseDeadline } from '../../text/deadline.ts';
import type { Section } from './sections.ts';

const MAX_TITLE = 200;
const MAX_PRIORITY = 100;

const NAMES = ['Goals', 'Success Criteria', 'Constraints', 'Context', 'Priority', 'Deadline'] as const;
type Name = (typeof NAMES)[number];

/** Headings in lower case. The singular is accepted too. */
const BY_HEADING: Readonly<Record<string, Name>> = {
  ...Object.fromEntries(NAMES.map((name) => [name.toLowerCase(), name])),
  goal: 'Goals',
  'success criterion': 'Success Criteria',
  constraint: 'Constraints',
};

const EXAMPLES: Readonly<Record<Name | 'title', string>> = {
  title: '# Objective: Let people log in',
  Goals: '## Goals\n\n1. Add a login form',
  'Success Criteria': '## Success Criteria\n\n- [ ] All tests pass (run: npm test)',
  Constraints: '## Constraints\n\n- Keep the database as it is',
  Context: '## Context\n\nThe server is written in Go.',
  Priority: '## Priority\n\nHigh',
  Deadline: '## Deadline\n\n2026-12-24T17:00+01:00',
};

/** The smallest file that is an objective. */
export const WHOLE = [EXAMPLES.title, EXAMPLES.Goals, EXAMPLES['Success Criteria']].join('\n\n');

export const NO_WORDS = 'there are no words in it';

export type Parts = Omit<Objective, 'file' | 'frontMatter' | 'text'>;

/**
 * Reads each section and collects all problems. The parts are complete only if there are none. `mayBePlain`: a text without goals
 * and success criteria is one goal.
 */
export function readParts(
  sections: readonly Section[],
  lines: readonly string[],
  { file, mayBePlain }: { readonly file: string; readonly mayBePlain: boolean },
): { parts: Parts; problems: Problem[] } {
  const problems: Problem[] = [];
  const report: Report = (line, message, name) => problems.push({ file, line, message, example: EXAMPLES[name] });
  const found = findSections(sections, report);
  const isPlain = mayBePlain && !found.has('Goals') && !found.has('Success Criteria');
  const titleSection = isPlain ? undefined : findTitle(sections, lines, report);
  if (!isPlain) requireSections(found, sections, titleSection?.start ?? firstLine(lines), report);

  const goals = isPlain ? [trimBlank(lines)] : textItems(found.get('Goals'), 'Goals', report);
  const constraints = textItems(found.get('Constraints'), 'Constraints', report);
  const { criteria, refused } = readCriteria(found.get('Success Criteria'), file, report);
  const title = isPlain ? titleOfText(lines) : titleOf(titleSection);
  if (isPlain && title === '') report(1, NO_WORDS, 'title');
  const priority = readPriority(found.get('Priority'), report);
  const deadline = readDeadline(found.get('Deadline'), report);
  const parts: Parts = {
    title,
    goals,
    criteria,
    constraints,
    context: isPlain ? '' : contextOf(sections, titleSection, lines),
    ...(priority === undefined ? {} : { priority }),
    ...(deadline === undefined ? {} : { deadline }),
  };
  return { parts, problems: [...problems, ...refused] };
}

type Report = (line: number, message: string, name: Name | 'title') => void;
type Found = ReadonlyMap<Name, Section>;

function sectionName(heading: string): Name | undefined {
  const plain = heading
    .trim()
    .replace(/^[*_]{1,3}/, '')
    .replace(/[*_]{0,3}:?[*_]{0,3}$/, '')
    .split(/\s+/, 4)
    .join(' ')
    .toLowerCase();
  return Object.hasOwn(BY_HEADING, plain) ? BY_HEADING[plain] : undefined;
}

/** The first heading of level 1. A second one is refused, because it would be unclear which is the objective. */
function findTitle(sections: readonly Section[], lines: readonly string[], report: Report): Section | undefined {
  const [title, ...more] = sections.filter(({ level, heading }) => level === 1 && sectionName(heading) === undefined);
  for (const { start } of more) {
    report(start, `a second title (the first one is on line ${title?.start}); use “##” for a section`, 'title');
  }
  if (title === undefined) {
    report(firstLine(lines), 'the title is missing: write the objective as one “# …” heading', 'title');
    return undefined;
  }
  const text = titleOf(title);
  if (text === '') report(title.start, 'the title is empty', 'title');
  if (text.length > MAX_TITLE) report(title.start, `the title is longer than ${MAX_TITLE} characters`, 'title');
  return title;
}

function titleOf(section: Section | undefined): string {
  const text =
    section?.heading
      .split('\n')
      .map((line) => line.trim())
      .join(' ') ?? '';
  return text.replace(/^objective ?:/i, '').trim();
}

/** The first line with words, without the marks of a heading or a list, safe to show. Empty if nothing is visible. */
export function titleOfText(lines: readonly string[]): string {
  const shown = lines.map((line) =>
    plainLine(line.replace(/^[\s#>*-]+(?=\S)/, '').replace(/^objective ?:/i, ''), MAX_TITLE),
  );
  return shown.find((line) => /[\p{L}\p{N}]/u.test(line)) ?? shown.find((line) => line !== '') ?? '';
}

function findSections(sections: readonly Section[], report: Report): Found {
  const found = new Map<Name, Section>();
  for (const section of sections) {
    const name = section.level === 0 ? undefined : sectionName(section.heading);
    if (name === undefined) continue;
    const first = found.get(name);
    if (section.level === 1) {
      report(section.start, `“# ${name}” is a title; a section starts with “##”`, name);
    } else if (first !== undefined) {
      report(section.start, `a second “## ${name}” (the first one is on line ${first.start}); make one of them`, name);
    }
    if (first === undefined) found.set(name, section);
  }
  return found;
}

/** Goals and criteria are required. The message names a heading that looks like them. */
function requireSections(found: Found, sections: readonly Section[], line: number, report: Report): void {
  for (const name of ['Goals', 'Success Criteria'] as const) {
    if (found.has(name)) continue;
    const deeper = sections.flatMap(({ inner }) => inner).find(({ heading }) => sectionName(heading) === name);
    const similar = sections.find(({ level, heading }) => level === 2 && nearest(heading.trim(), [name]) === name);
    if (deeper !== undefined) {
      report(deeper.line, `“${'#'.repeat(deeper.level)} ${name}” is inside another section; write “## ${name}”`, name);
    } else if (similar === undefined) {
      report(line, `${name.toLowerCase()} are missing: list them in a “## ${name}” section`, name);
    } else {
      report(similar.start, `${quote(`## ${similar.heading}`)} is not a known section; is it “## ${name}”?`, name);
    }
  }
}

function textItems(section: Section | undefined, name: 'Goals' | 'Constraints', report: Report): string[] {
  if (section === undefined) return [];
  if (section.items.length === 0) report(section.start, noList(name), name);
  return section.items.flatMap((item) => {
    const text = plainItem(item);
    if (text === '') report(item.line, `an empty entry in “## ${name}”`, name);
    return text === '' ? [] : [text];
  });
}

function noList(name: Name): string {
  return `“## ${name}” has no list; start each entry with “-” or a number`;
}

function readCriteria(
  section: Section | undefined,
  file: string,
  report: Report,
): { criteria: Criterion[]; refused: Problem[] } {
  if (section?.items.length === 0) report(section.start, noList('Success Criteria'), 'Success Criteria');
  const results = section?.items.map((item) => parseCriterion(item, file)) ?? [];
  return {
    criteria: results.flatMap((result) => (result.ok ? [result.criterion] : [])),
    refused: results.flatMap((result) => (result.ok ? [] : [result.problem])),
  };
}

function readPriority(section: Section | undefined, report: Report): string | undefined {
  if (section === undefined) return undefined;
  const { text, line } = section.paragraph ?? { text: '', line: section.start };
  if (text === '') report(line, '“## Priority” is empty; say it in a word, or leave the section out', 'Priority');
  if (text.length > MAX_PRIORITY) report(line, `the priority is longer than ${MAX_PRIORITY} characters`, 'Priority');
  return text;
}

function readDeadline(section: Section | undefined, report: Report): Deadline | undefined {
  if (section === undefined) return undefined;
  if (section.paragraph === undefined) {
    report(section.start, '“## Deadline” is empty; write a date, or leave the section out', 'Deadline');
    return undefined;
  }
  const { text, line } = section.paragraph;
  const at = parseDeadline(text);
  if (typeof at === 'number') return { text, at, line };
  report(line, `the deadline ${quote(text)} ${at}`, 'Deadline');
  return undefined;
}

/** Everything outside the known sections, in the file's order. */
function contextOf(sections: readonly Section[], title: Section | undefined, lines: readonly string[]): string {
  const chunks = sections.map((section) => {
    const name = section.level === 0 ? undefined : sectionName(section.heading);
    if (name !== undefined && name !== 'Context') return '';
    const bare = section === title || name === 'Context' || section.level === 0;
    return trimBlank(lines.slice((bare ? section.body : section.start) - 1, section.end - 1));
  });
  return chunks.filter((chunk) => chunk !== '').join('\n\n');
}

function trimBlank(lines: readonly string[]): string {
  const isText = (line: string) => line.trim() !== '';
  const first = lines.findIndex(isText);
  return first < 0 ? '' : lines.slice(first, lines.findLastIndex(isText) + 1).join('\n');
}

function firstLine(lines: readonly string[]): number {
  const index = lines.findIndex((line) => line.trim() !== '');
  return Math.max(index, 0) + 1;
}
