import { SquadError } from '../model/errors.ts';

export function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usage(`${text} is not a whole number`);
  return Number(text);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw usage(`${text} is not a number above 0`);
  return value;
}

function usage(message: string): SquadError {
  return new SquadError({ code: 'usage', message, next: 'Run the command with --help for its options.' });
}
