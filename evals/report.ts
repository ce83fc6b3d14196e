import { sumUsd } from '../src/model/money.ts';
import { readSet, type Change, type SetName } from './items.ts';
import type { Played } from './play.ts';

/** A set as a whole. */
export interface Summary {
  readonly set: SetName;
  readonly played: number;
  readonly right: number;
  /** Only of the set for reviewers. */
  readonly bugs?: { readonly found: number; readonly of: number };
  readonly clean?: { readonly approved: number; readonly of: number };
  readonly alarms?: number;
  /**
   * For reviewers the share of bugs that they found, less the share of clean changes that they rejected: who approves all, or rejects all,
   * has 0 at most. For others the share that is right. null: not all kinds of items were played.
   */
  readonly score: number | null;
  readonly turns: number;
  /** null: not known of each item. */
  readonly usd: number | null;
  readonly tokens: number | null;
}

export function summaryOf(set: SetName, all: readonly Played[]): Summary {
  const items = all.filter((one) => one.set === set);
  const right = items.filter((one) => one.right).length;
  const amounts = (of: 'usd' | 'tokens'): number[] | null => {
    const known = items.flatMap((one) => one[of] ?? []);
    return known.length < items.length ? null : known;
  };
  const [usd, tokens] = [amounts('usd'), amounts('tokens')];
  const about = { set, played: items.length, right, turns: items.reduce((total, one) => total + one.turns, 0) };
  const use = {
    usd: usd && sumUsd(usd),
    tokens: tokens && tokens.reduce((total, one) => total + one, 0),
  };
  if (set !== 'reviewers') return { ...about, ...use, score: items.length === 0 ? null : right / items.length };
  const changes = new Map<string, Change>(readSet('reviewers').map((one) => [one.id, one]));
  const [bad, clean] = [true, false].map((has) =>
    items.filter(({ id }) => (changes.get(id)?.bug !== undefined) === has),
  );
  const bugs = { found: count(bad), of: bad?.length ?? 0 };
  const approved = { approved: count(clean), of: clean?.length ?? 0 };
  const score = bugs.of === 0 || approved.of === 0 ? null : bugs.found / bugs.of - 1 + approved.approved / approved.of;
  return { ...about, ...use, bugs, clean: approved, alarms: items.reduce((n, one) => n + (one.alarms ?? 0), 0), score };
}

function count(items: readonly Played[] | undefined): number {
  return items?.filter(({ right }) => right).length ?? 0;
}

export interface Facts {
  readonly runtime: string;
  readonly model: string | null;
  readonly prompts: string;
  readonly at: string;
  /** Why not all items were played; null: they were. */
  readonly stopped: string | null;
}

export function markdownOf(facts: Facts, summaries: readonly Summary[], all: readonly Played[]): string {
  const rows = summaries.map((one) => [
    one.set,
    `${one.right} of ${one.played}`,
    one.bugs === undefined ? '' : `${one.bugs.found} of ${one.bugs.of}`,
    one.clean === undefined ? '' : `${one.clean.approved} of ${one.clean.of}`,
    one.alarms === undefined ? '' : String(one.alarms),
    one.score === null ? 'not measured' : one.score.toFixed(2),
    String(one.turns),
    one.tokens === null ? 'not measured' : String(one.tokens),
    one.usd === null ? 'not measured' : `USD ${one.usd.toFixed(4)}`,
  ]);
  const items = all.map((one) => [one.set, one.id, one.right ? 'right' : 'wrong', one.why, String(one.turns)]);
  const hashes = [...new Set(all.map(({ promptHash }) => promptHash ?? 'unknown'))].join(', ');
  return [
    `# Evals of ${facts.runtime}${facts.model === null ? '' : `, ${facts.model}`}`,
    `Prompts: ${facts.prompts} (${hashes || 'none'}). At ${facts.at}.`,
    ...(facts.stopped === null ? [] : [`Not all items were played: ${facts.stopped}.`]),
    table(['set', 'right', 'bugs found', 'clean approved', 'false alarms', 'score', 'turns', 'tokens', 'cost'], rows),
    table(['set', 'item', 'is', 'why', 'turns'], items),
    'Items are few and played once: a difference of a few items between two tables is no result.',
  ].join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll(/[|\n\r]+/g, ' ').slice(0, 200)).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
