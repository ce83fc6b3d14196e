// Writes docs/commands.md from the command line itself: `npm run commands`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { createProgram } from '../src/cli/program.ts';
import { PLAIN } from '../src/cli/render/style.ts';
import { readMachine } from '../src/squad/machine.ts';

export const PAGE = 'docs/commands.md';

const HEAD = `# Commands

Every command with its arguments, options and examples, made from the command line itself by \`npm run commands\`.
\`squad <command> --help\` prints the same.`;

/** The whole command line, with the commands of \`squad mail\`. */
export async function allCommands(): Promise<Command> {
  const none = () => undefined;
  const output = {
    line: none,
    json: none,
    problem: none,
    terminal: undefined,
    style: PLAIN,
    columns: none,
    isLost: () => false,
  };
  // Commands of `squad mail` are made only where it is named.
  return createProgram({ host: readMachine(), output, exit: none }, '0', ['node', 'squad', '--help', 'mail']);
}

/** Each example of the command's help as one line of a shell. */
export function examplesOf(command: Command): readonly string[] {
  return linesBelow(command, 'Example:');
}

function linesBelow(command: Command, title: string): readonly string[] {
  let text = '';
  const write = (part: string): void => void (text += part);
  command.configureOutput({ writeOut: write }).outputHelp();
  const [, after = ''] = text.split(`\n${title}\n`);
  const [lines = ''] = after.split('\n\n');
  const found = lines.replaceAll(/ \\\n +/g, ' ').split('\n');
  return found.map((line) => line.trim()).filter((line) => line !== '');
}

/** The commands that help shows, each after the one that it belongs to. */
export function shownCommands(command: Command): Command[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.filter((one) => one.name() !== 'help').flatMap((one) => [one, ...shownCommands(one)]);
}

export async function commandsPage(): Promise<string> {
  const program = await allCommands();
  const titles = [...new Set(program.commands.map((command) => command.helpGroup()))].filter((title) => title !== '');
  const groups = titles.map((title) => {
    const own = shownCommands(program).filter((one) => topOf(one).helpGroup() === title);
    return [`## ${title.replace(/:$/, '')}`, ...own.map(sectionOf)].join('\n\n');
  });
  const common = ['## For all commands', tableOf(program)].join('\n\n');
  return `${[HEAD, ...groups, common].join('\n\n')}\n`;
}

function topOf(command: Command): Command {
  const { parent } = command;
  return parent === null || parent.parent === null ? command : topOf(parent);
}

function sectionOf(command: Command): string {
  const name = pathOf(command);
  const usage = `${name} ${command.createHelp().visibleCommands(command).length > 0 ? '<command>' : command.usage()}`;
  const examples = examplesOf(command);
  const leaves = linesBelow(command, 'Leaves:').map((line) => line.replace(/ +/, ': '));
  return [
    `### ${name}`,
    escaped(command.description()),
    `    ${usage.trim()}`,
    ...(command.options.length + command.registeredArguments.length === 0 ? [] : [tableOf(command)]),
    ...(leaves.length === 0 ? [] : [`It leaves:\n\n${leaves.map((line) => `- ${line}`).join('\n')}`]),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``]),
  ].join('\n\n');
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function tableOf(command: Command): string {
  const help = command.createHelp();
  const given = help
    .visibleArguments(command)
    .map((one) => [`\`${help.argumentTerm(one)}\``, help.argumentDescription(one)]);
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((one) => [`\`${help.optionTerm(one)}\``, help.optionDescription(one)]);
  const rows = [...given, ...options].map(([term = '', about = '']) => `| ${term} | ${escaped(about)} |`);
  return ['| argument or option | what it is |', '| --- | --- |', ...rows].join('\n');
}

/** Words in angle brackets would be HTML, and a bar would end the cell. */
function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/`[^`]*`|<(?=[a-z])/g, (part) => (part === '<' ? '\\<' : part));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(join(root, PAGE), await commandsPage());
}
