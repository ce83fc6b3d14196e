import { quote, type Problem } from '../text/problem.ts';
import { frontMatterSchema, type FrontMatter } from '../model/settings.ts';
import { parseYaml } from '../text/yaml-file.ts';

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

export interface SplitFile {
  readonly frontMatter: FrontMatter;
  readonly problems: readonly Problem[];
  /** The lines of the Markdown. Lines of the front matter are blank, so that line numbers stay correct. */
  readonly lines: readonly string[];
}

/** Splits off the text between a `---` on the first line and the next `---`. */
export function splitFrontMatter(lines: readonly string[], file: string): SplitFile {
  const isFence = (line: string | undefined) => line?.trimEnd() === '---';
  if (!isFence(lines[0])) return { frontMatter: {}, problems: [], lines };
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
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
