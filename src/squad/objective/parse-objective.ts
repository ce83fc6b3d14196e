import type { Objective } from '../../model/objective.ts';
import { frontMatterSchema, type FrontMatter } from '../../model/settings.ts';
import { endOfFrontMatter } from '../../text/front-matter.ts';
import { orderProblems, quote, type Problem } from '../../text/problem.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import { NO_WORDS, readParts, WHOLE } from './parts.ts';
import { readSections } from './sections.ts';

export type ObjectiveResult = { ok: true; objective: Objective } | { ok: false; problems: Problem[] };

const MAX_BYTES = 512 * 1024;

/**
 * The objective, or all problems in the file's order. Text outside the known sections becomes context. `mayBePlain`: a text
 * without goals and success criteria is one goal.
 */
export function parseObjective(text: string, fileName: string, mayBePlain = false): ObjectiveResult {
  const refuse = (line: number, message: string, example?: string): ObjectiveResult => ({
    ok: false,
    problems: [{ file: fileName, line, message, ...(example === undefined ? {} : { example }) }],
  });
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).byteLength > MAX_BYTES) {
    return refuse(1, `larger than ${MAX_BYTES / 1024} KiB; put the details into files of the repository and name them`);
  }
  const normal = text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n');
  const nul = normal.indexOf('\0');
  if (nul >= 0)
    return refuse(normal.slice(0, nul).split('\n').length, 'contains a NUL character; an objective is plain text');
  const { frontMatter, problems, lines } = splitFrontMatter(normal.split('\n'), fileName);
  if (lines.every((line) => line.trim() === '')) {
    return mayBePlain ? refuse(1, NO_WORDS) : refuse(1, 'there is no objective in this file', WHOLE);
  }
  const read = readParts(readSections(lines), lines, { file: fileName, mayBePlain });
  const all = [...problems, ...read.problems];
  if (all.length > 0) return { ok: false, problems: orderProblems(all) };
  return { ok: true, objective: { file: fileName, ...read.parts, frontMatter, text } };
}

const EXAMPLE = '---\nname: login\nplaybook: delivery\nlimits: { minutes: 120, usd: 10 }\n---';

const elsewhere = (heading: string) => `write this in the section “${heading}”`;
const HINTS = {
  title: elsewhere('# …'),
  goals: elsewhere('## Goals'),
  criteria: elsewhere('## Success Criteria'),
  constraints: elsewhere('## Constraints'),
  context: elsewhere('## Context'),
  priority: elsewhere('## Priority'),
  deadline: elsewhere('## Deadline'),
};

interface SplitFile {
  readonly frontMatter: FrontMatter;
  readonly problems: readonly Problem[];
  /** The lines of the Markdown. Lines of the front matter are blank, so that line numbers stay correct. */
  readonly lines: readonly string[];
}

/** Splits off the text between a `---` on the first line and the next `---`. */
function splitFrontMatter(lines: readonly string[], file: string): SplitFile {
  const end = endOfFrontMatter(lines);
  if (end === undefined) return { frontMatter: {}, problems: [], lines };
  if (end < 0) {
    const message = `the front matter that starts here has no closing line ${quote('---')}`;
    return { frontMatter: {}, problems: [{ file, line: 1, message, example: EXAMPLE }], lines };
  }
  const text = lines.slice(1, end).join('\n');
  const parsed = parseYaml({ file, text, firstLine: 2, examples: { '': EXAMPLE }, hints: HINTS }, frontMatterSchema);
  return {
    frontMatter: parsed.ok ? parsed.value : {},
    problems: parsed.ok ? [] : parsed.problems,
    lines: lines.map((line, index) => (index <= end ? '' : line)),
  };
}
