import { openMachine } from '../../engine/machine.ts';
import { usageError } from '../../model/errors.ts';
import {
  promptsAt,
  type PromptDiff,
  type PromptSummary,
  type ShownPrompt,
  type SquadPrompts,
} from '../../squad/repository-prompts.ts';
import { counted } from '../../text/counted.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import type { CommandContext, JsonOptions, Options } from '../command-context.ts';
import { printResult } from '../output.ts';
import type { Style } from '../render/style.ts';
import { renderTable } from '../render/table.ts';

const KINDS: Readonly<Record<ShownPrompt['facts'][number]['kind'], string>> = {
  line: 'one line',
  lines: 'a list of lines',
  data: 'words of others, between tags',
  own: 'text of squad',
};

/** Lists the prompts of agents, and which of them the repository has changed. */
export async function prompts(context: CommandContext, options: JsonOptions): Promise<void> {
  const { output } = context;
  const { prompts: found, problems } = await promptsHere(context).list();
  const rows = found.map((one) => [one.name, one.occasion, String(one.bytes), String(one.budget), hereOf(one)]);
  const head = ['prompt', 'when', 'bytes', 'of', 'here'];
  printResult(output, options, { type: 'prompts', prompts: found, problems }, [
    ...renderTable({ head, rows, columns: output.columns() }),
    '',
    ...problemLines(problems),
    'Next: `squad prompts show ROLE OCCASION` shows one, `squad prompts eject ROLE OCCASION` lets you change it.',
  ]);
}

/** Shows one prompt, the facts that it may name, and an example. */
export async function showPrompt(
  context: CommandContext,
  role: string,
  occasion: string | undefined,
  options: JsonOptions,
): Promise<void> {
  const { output } = context;
  const found = await promptsHere(context).show(nameOf(role, occasion));
  printResult(output, options, { type: 'prompt', ...found }, shownLines(found, output.style));
}

function shownLines(found: ShownPrompt, style: Style): string[] {
  const { name, role, occasion, bytes, budget, changed, file, facts, hash, body, example, problems } = found;
  const from = file === null || problems.length > 0 ? `squad, ${hash}` : `${file}${changed ? '' : ', as squad has it'}`;
  return [
    style('bold', name),
    `  for    ${role}: ${occasion}`,
    `  from   ${plainLine(from)}`,
    `  bytes  ${bytes} of ${budget}`,
    ...(facts.length === 0
      ? ['  facts  none']
      : facts.map(({ name: fact, kind }) => `  fact   ${fact}: ${KINDS[kind]}`)),
    ...problemLines(problems),
    '',
    style('bold', 'Text'),
    plainText(body),
    '',
    style('bold', 'Example'),
    plainText(example),
  ];
}

/** Writes one prompt into the repository. */
export async function ejectPrompt(
  context: CommandContext,
  role: string,
  occasion: string | undefined,
  options: Options<'eject'>,
): Promise<void> {
  const { force } = options;
  const ejected = await promptsHere(context).eject(nameOf(role, occasion), { force });
  printResult(context.output, options, { type: 'prompt-ejected', ...ejected }, [
    `${ejected.replaced ? 'replaced' : 'wrote'}  ${ejected.file}`,
    'Change its text below the second `---`: runs that start from now on use it.',
  ]);
}

/** Shows what the repository has changed, in all prompts or in one. */
export async function diffPrompts(
  context: CommandContext,
  role: string | undefined,
  occasion: string | undefined,
  options: JsonOptions,
): Promise<void> {
  const { output } = context;
  const here = promptsHere(context);
  const name = role === undefined ? undefined : nameOf(role, occasion);
  const diffs = await here.diff(name);
  const { problems } = await here.list();
  const none = name === undefined ? 'No prompt is changed here.' : `${name} is squad’s own here.`;
  printResult(output, options, { type: 'prompts-diff', diffs, problems }, [
    ...(diffs.length === 0 ? [none] : diffs.flatMap((one) => diffLines(one, output.style))),
    ...problemLines(problems),
  ]);
}

function diffLines({ name, file, changed, lines, hasMoved }: PromptDiff, style: Style): string[] {
  const moved = `squad’s own text has changed since then; write its hash of \`squad prompts show ${name}\` as \`from\` once you have looked`;
  return [
    style('bold', `${name}  ${file ?? ''}`),
    ...(hasMoved === true ? [moved] : []),
    ...(changed ? lines.map((line) => coloured(plainText(line), style)) : ['the same as squad’s own']),
    '',
  ];
}

function coloured(line: string, style: Style): string {
  if (line.startsWith('+')) return style('green', line);
  return line.startsWith('-') ? style('red', line) : line;
}

function hereOf({ changed, file, problems }: PromptSummary): string {
  if (problems.length > 0) return 'cannot be used';
  return changed ? 'changed' : file === null ? '' : 'as squad has it';
}

function problemLines(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  const what = `No run starts here until ${problems.length === 1 ? 'this is' : `these ${counted(problems.length, 'problem')} are`} corrected:`;
  return [what, ...problems.map((one) => `  ${plainText(one)}`)];
}

function promptsHere({ host }: CommandContext): SquadPrompts {
  return promptsAt({ host, composition: openMachine(host) });
}

/** A role and an occasion, or both in one word as the list has them. */
function nameOf(role: string, occasion: string | undefined): string {
  if (occasion !== undefined) return `${role}/${occasion}`;
  if (role.includes('/')) return role;
  throw usageError(
    `${plainLine(role, 80)} names no occasion`,
    `Name both: \`squad prompts show builder role\`. \`squad prompts\` lists them.`,
  );
}
