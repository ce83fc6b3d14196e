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

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `60s`, `5m`, `1h`, in ms; at least a second. */
export function duration(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})(s|m|h)$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS[unit] ?? 0);
  if (ms < 1_000) throw new InvalidArgumentError(`${text} is no duration; for example 60s, 5m or 1h`);
  return ms;
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError(`${text} is not a number above 0`);
  return value;
}
