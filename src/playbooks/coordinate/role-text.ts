import { plainLine } from '../../text/plain-text.ts';
import type { TeamRole } from './answer.ts';

/** A role file. Nothing that its author wrote can begin a heading, a fence or a block of HTML in it. */
export function roleText({
  name,
  prefix,
  responsibility_type: type,
  identity,
  must,
  must_not: mustNot,
  phases,
}: TeamRole): string {
  return [
    `# Role: ${line(name)}`,
    '## Identity',
    [
      `- **Name**: ${line(name)}`,
      `- **Tag**: \`[${line(name)}]\``,
      `- **Task Prefix**: \`${line(prefix)}-*\``,
      `- **Responsibility**: ${line(type)}`,
    ].join('\n'),
    text(identity),
    '## Boundaries',
    '### MUST',
    list(must),
    '### MUST NOT',
    list(mustNot),
    '## Execution (5-Phase)',
    ...phases.flatMap(({ title, steps }, index) => [
      `### Phase ${index + 1}: ${line(title)}`,
      steps.map((step, number) => `${number + 1}. ${text(step)}`).join('\n'),
    ]),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function list(entries: readonly string[]): string {
  return entries.map((entry) => `- ${text(entry)}`).join('\n');
}

/** What begins a block of Markdown at the beginning of a line. */
const BLOCK = /^(?:[#>~`<=+*|-]|\d+[.)])/;

function text(written: string): string {
  const one = line(written);
  return BLOCK.test(one) ? one.replace(/[^\d]/, String.raw`\$&`) : one;
}

function line(written: string): string {
  return plainLine(written, Infinity);
}
