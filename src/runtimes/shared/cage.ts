import { isWithin } from '../../substrate/system/files/confine.ts';

/** A path that a confined agent sees empty, or cannot read. */
interface Hidden {
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * The limits of a confined agent: it reads everything else and writes nothing else. If one of two folders is in the other, each decides
 * about its own content: a hidden folder in a readable one stays hidden.
 */
export interface Cage {
  /** Absolute, without links. A folder that is missing stays missing. */
  readonly writable: readonly string[];
  readonly hidden: readonly Hidden[];
  readonly readable?: readonly string[];
  /** Below what is writable, and not writable. */
  readonly kept?: readonly string[];
  /** Files that are there and seem empty, or cannot be read. */
  readonly masked?: readonly string[];
  /** false: it has none. Absent: it keeps the network. */
  readonly network?: boolean;
  readonly cwd: string;
}

/** A confined agent cannot change these of its repository: they could lead the next turn's git elsewhere. */
export const KEPT = ['.git/config', '.git/hooks', '.git/objects/info'];

/** A path with what a cage does to all of it, unless a later layer decides otherwise. */
export interface Layer {
  readonly path: string;
  readonly does: 'hide-folder' | 'hide-file' | 'show' | 'open';
}

/** The outer ones first, because a layer covers all below it. In a place that is hidden nothing has to be hidden again. */
export function layersOf({ hidden, readable = [], writable }: Cage): readonly Layer[] {
  const all = [
    ...hidden.map(({ path, isFolder }): Layer => ({ path, does: isFolder ? 'hide-folder' : 'hide-file' })),
    ...readable.map((path): Layer => ({ path, does: 'show' })),
    ...writable.map((path): Layer => ({ path, does: 'open' })),
  ].toSorted((one, other) => depthOf(one.path) - depthOf(other.path));
  const isNeeded = ({ path, does }: Layer, index: number): boolean =>
    does !== 'hide-folder' ||
    all.slice(0, index).findLast((other) => isWithin(other.path, path))?.does !== 'hide-folder';
  return all.filter(isNeeded);
}

function depthOf(path: string): number {
  return path.split('/').filter((part) => part !== '').length;
}

/** Those of `more` that work here, or why a cage without them does not work either. */
export async function tryParts<Part>(
  more: readonly Part[],
  problemWith: (parts: readonly Part[]) => Promise<string | undefined>,
): Promise<{ readonly parts: readonly Part[] } | { readonly problem: string }> {
  if ((await problemWith(more)) === undefined) return { parts: more };
  const problem = await problemWith([]);
  if (problem !== undefined) return { problem };
  const problems = await Promise.all(more.map(async (one) => problemWith([one])));
  return { parts: more.filter((_, index) => problems[index] === undefined) };
}
