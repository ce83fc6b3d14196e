import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../text/duration.ts';

/** `planner=opus`, added to those before. */
export function model(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
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

/** Added to those before. */
export function folders(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

const ALLOWABLE = ['approve', 'merge'] as const;
/** A program may do these only if a person has allowed it. */
export type Allowed = (typeof ALLOWABLE)[number];

/** Added to those before. */
export function allowed(text: string, before: readonly Allowed[] = []): readonly Allowed[] {
  const found = ALLOWABLE.find((one) => one === text);
  if (found === undefined) throw new InvalidArgumentError(`${text} cannot be allowed; one of: ${ALLOWABLE.join(', ')}`);
  return [...before, found];
}
