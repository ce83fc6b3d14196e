import type { Argument, Command, Option } from 'commander';
import { BUILT_IN_PLAYBOOKS } from '../../model/playbook-name.ts';
import { KNOWN_RUNTIMES } from '../../model/runtime-name.ts';

/** Names that take some reading. */
export interface KnownNames {
  readonly runs: readonly string[];
  /** Tasks of the run that the line names, else of the running or newest one. */
  readonly tasks: readonly string[];
  readonly agents: readonly string[];
  readonly requests: readonly string[];
  /** Roles of prompts: `builder`, and with its occasion `builder/role` once that much is typed. */
  readonly roles: readonly string[];
  /** Occasions of the role that the line names. */
  readonly occasions: readonly string[];
}

export type Source = keyof KnownNames;

interface Candidates {
  readonly words: readonly string[];
  readonly names: readonly Source[];
}

const NONE: Candidates = { words: [], names: [] };
/** By the name of an option or argument that takes one. */
const NAMED: Readonly<Record<string, readonly Source[]>> = {
  run: ['runs'],
  request: ['requests'],
  task: ['tasks'],
  agent: ['agents'],
  name: ['runs', 'tasks'],
  role: ['roles'],
  occasion: ['occasions'],
};
const LISTED: Readonly<Record<string, readonly string[]>> = {
  runtime: KNOWN_RUNTIMES,
  playbook: BUILT_IN_PLAYBOOKS,
};
/** A name that no shell reads as anything else. Others are left out. */
const SAFE = /^[A-Za-z0-9][A-Za-z0-9._/#-]{0,99}$/;

/** Completes the last of `words`, which follow the program's name. It may be empty. */
export function candidatesFor(program: Command, words: readonly string[]): Candidates {
  const given = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  let command = program;
  let operands = 0;
  let open: Option | undefined;
  for (const word of given) {
    if (open !== undefined) open = undefined;
    else if (word.startsWith('-')) open = valueOption(command, word);
    else {
      const inner = operands === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (inner === undefined) operands += 1;
      else command = inner;
    }
  }
  if (open !== undefined) return valuesOf(open.name(), open.argChoices);
  if (typed.startsWith('-')) return { words: optionsOf(program, command), names: [] };
  const shown = command.createHelp().visibleCommands(command);
  const inner = operands === 0 ? shown.map((one) => one.name()) : [];
  const argument = argumentAt(command, operands);
  const values = argument === undefined ? NONE : valuesOf(argument.name(), argument.argChoices);
  return { words: [...inner, ...values.words], names: values.names };
}

/** Those that begin with what is typed, each once, in an order that a person finds things in. */
export function matching({ words, names }: Candidates, known: KnownNames, typed: string): readonly string[] {
  const all = [...words, ...names.flatMap((source) => known[source].filter((name) => SAFE.test(name)))];
  return [...new Set(all)].filter((word) => word.startsWith(typed));
}

function valueOption(command: Command, word: string): Option | undefined {
  const all = [...command.options, ...(command.parent?.options ?? [])];
  return all.find((option) => (option.required || option.optional) && [option.long, option.short].includes(word));
}

function optionsOf(program: Command, command: Command): string[] {
  const all = [...command.createHelp().visibleOptions(command), ...(command === program ? [] : program.options)];
  return all.flatMap(({ long }) => (long === undefined || long === null || long === '--version' ? [] : [long]));
}

function argumentAt(command: Command, index: number): Argument | undefined {
  const { registeredArguments: all } = command;
  return all[index] ?? (all.at(-1)?.variadic === true ? all.at(-1) : undefined);
}

function valuesOf(name: string, choices: readonly string[] | undefined): Candidates {
  return { words: choices ?? LISTED[name] ?? [], names: NAMED[name] ?? [] };
}
