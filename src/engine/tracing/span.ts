import { sha256Of } from '../../model/sha256.ts';
import type { Usage } from '../../model/usage.ts';

/** A span above another one. */
export interface Ancestor {
  readonly id: string;
  readonly startedAt: number;
}

/** One piece of work that has ended, or the root of a trace as it begins. Times in epoch ms. */
export interface Span extends Ancestor {
  /** From the root on; empty: this is a root. */
  readonly above: readonly Ancestor[];
  readonly kind: 'trace' | 'node' | 'turn' | 'check' | 'tool';
  readonly name: string;
  readonly endedAt: number;
  /** A root that begins: `endedAt` says nothing yet. */
  readonly isOpen?: true | undefined;
  /** In a word or two: why it did not end well. */
  readonly error?: string | undefined;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  readonly usage?: Usage | undefined;
  /** Input and output; absent: content was not asked for. */
  readonly content?: { readonly input: string; readonly output: string } | undefined;
}

/** Equal parts give an equal id, from every sender and however often: 32 hexadecimal digits. */
export function spanId(...parts: readonly (string | number)[]): string {
  return sha256Of(JSON.stringify(['squad-span', ...parts])).slice(0, 32);
}

/** Those that say of work that it has ended: a root that begins counts once it ends. */
export function endedIn(spans: readonly Span[]): number {
  return spans.filter(({ isOpen }) => isOpen !== true).length;
}

export function rootOf({ id, above }: Span): string {
  return above[0]?.id ?? id;
}
