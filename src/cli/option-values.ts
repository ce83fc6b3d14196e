import { InvalidArgumentError } from 'commander';
import { SquadError } from '../model/errors.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/intervention.ts';
import type { ScopeOptions } from './command-context.ts';
import { parseDuration } from '../text/duration.ts';

export function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
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

/** The named agent or task, or else the run. Throws `usage` if both are named. */
export function scopeOf({ agent, task }: ScopeOptions): string {
  if (agent !== undefined && task !== undefined) {
    throw new SquadError({ code: 'usage', message: '--agent and --task cannot be given together', next: 'Name one.' });
  }
  if (agent !== undefined) return agentScope(agent);
  return task === undefined ? WHOLE_RUN : taskScope(task);
}
