import { InvalidArgumentError } from 'commander';

export function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** The program names the option before what is said here. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError(`${text} is not a whole number`);
  return Number(text);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError(`${text} is not a number above 0`);
  return value;
}
