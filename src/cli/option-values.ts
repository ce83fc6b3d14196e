import { InvalidArgumentError, type AddHelpTextContext, type Command } from 'commander';
import { usageError } from '../model/errors.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/scope.ts';
import { BUILT_IN_PLAYBOOKS } from '../model/playbook-name.ts';
import { ACP, BUILT_IN_RUNTIMES } from '../model/runtime-name.ts';
import type { CommandContext, ScopeOptions } from './command-context.ts';
import { parseDuration } from '../text/duration.ts';

export const RUN = 'name or id of a run (default: the one that is running, or the newest)';
export const RUNTIMES = [...BUILT_IN_RUNTIMES, `${ACP}/<agent>`].join(', ');
export const PLAYBOOKS = BUILT_IN_PLAYBOOKS.join(', ');
export const MODEL = [
  '--model <who=name>',
  'model of an agent or role, such as planner=opus (repeatable)',
  model,
] as const;
export const JSON_OBJECT = ['--json', 'print one JSON object'] as const;
export const PLAIN_LINES = ['--plain', 'print lines instead of drawing on the terminal'] as const;
export const JSON_LINES = ['--json', 'print one JSON object a line'] as const;

/** Adds a command with its description and the examples of its help. */
export function addCommand(parent: Command, name: string, description: string, ...examples: string[]): Command {
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', example(...examples));
}

/** A command's action, whose code is loaded when it runs. */
export function lazily<Given extends unknown[]>(
  context: CommandContext,
  load: () => Promise<(context: CommandContext, ...given: Given) => Promise<void>>,
): (...given: Given) => Promise<void> {
  return async (...given) => (await load())(context, ...given);
}

export function example(...lines: string[]): (about: AddHelpTextContext) => string {
  return ({ command }) => {
    const title = command.createHelp().styleTitle('Example:');
    return `\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`;
  };
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** `planner=opus`, added to those before. */
function model(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, who, name] = /^([a-z][a-z0-9-]{0,31})=([A-Za-z0-9]\S{0,99})$/.exec(text) ?? [];
  if (who === undefined || name === undefined) {
    throw new InvalidArgumentError(`${text} is not an agent or role with its model; for example planner=opus`);
  }
  return { ...before, [who]: name };
}

/** The error follows the option's name. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError(`${text} is not a whole number`);
  return Number(text);
}

/** `60s`, `5m`, `1h` or `1d`, in ms. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError(`${text} is not a duration; for example 60s, 5m or 1h`);
  return ms;
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError(`${text} is not a number above 0`);
  return value;
}

export function port(text: string): number {
  const value = wholeNumber(text);
  if (value > 65_535) throw new InvalidArgumentError(`${text} is not a port; for example 2024`);
  return value;
}

/** Pages by scheme, host and port, as a browser names them. */
export function origins(text: string, before: readonly string[] = []): readonly string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.origin !== text) {
    throw new InvalidArgumentError(`${text} is not the origin of a page; for example http://localhost:3000`);
  }
  return [...before, text];
}

/** The named agent or task, or else the run. Throws `usage` if both are named. */
export function scopeOf({ agent, task }: ScopeOptions): string {
  if (agent !== undefined && task !== undefined) {
    throw usageError('--agent and --task cannot be given together', 'Name one.');
  }
  if (agent !== undefined) return agentScope(agent);
  return task === undefined ? WHOLE_RUN : taskScope(task);
}
