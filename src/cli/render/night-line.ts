import { costText } from '../../model/amount.ts';
import type { Night, NightRun } from '../../view/night.ts';
import { plainLine } from '../../text/plain-text.ts';
import { localTime } from '../../text/time.ts';

/** Longest cause of one run. */
const MOST_WHY = 160;

/** All runs since a time in one line: what is done, what waits and since when, what failed and why, and the cost. */
export function nightLine(night: Night, now: number): string {
  const { since, runs } = night;
  const begin = `since ${localTime(since, now)}:`;
  if (runs.length === 0) return `${begin} no run was at work`;
  const of = (states: readonly NightRun['state'][]): NightRun[] => runs.filter(({ state }) => states.includes(state));
  const parts = [
    part(of(['done']), 'done', ({ name }) => name),
    part(of(['waiting', 'stopped', 'interrupted']), 'waiting', (run) => waitText(run, now)),
    part(of(['failed']), 'failed', causeText),
    part(of(['cancelled']), 'cancelled', causeText),
    part(of(['preparing', 'running']), 'at work', ({ name }) => name),
    night.turns === 0 ? 'no turn ended' : costText(night),
  ];
  return `${begin} ${parts.filter((text) => text !== '').join('; ')}`;
}

function part(runs: readonly NightRun[], word: string, text: (run: NightRun) => string): string {
  if (runs.length === 0) return '';
  const separator = runs.some(({ why }) => why !== null) ? ' | ' : ', ';
  return `${runs.length} ${word} (${runs.map(text).join(separator)})`;
}

function waitText({ name, why, at }: NightRun, now: number): string {
  const since = at === null ? '' : `, since ${localTime(at, now)}`;
  return `${name}: ${plainLine(why ?? '', MOST_WHY)}${since}`;
}

function causeText({ name, why }: NightRun): string {
  return `${name}: ${plainLine(why ?? '', MOST_WHY)}`;
}
