import { z } from 'zod';
import { plainLine } from '../../text/plain-text.ts';
import type { RelayMessage, RoleTurn, RunFacts } from '../sprint/run-facts.ts';

/** One summary at most in this time, for each sprint. */
const WINDOW_MS = 600_000;
/** Lines of one summary. */
const MOST_LINES = 12;

/** Reports and messages between roles in one window, for people who watch. Its id says which window it is. */
export interface RelaySummary {
  readonly id: string;
  /** Epoch ms. */
  readonly endsAt: number;
  readonly lines: readonly string[];
}

type Traffic = Pick<RunFacts, 'turns' | 'messages'>;

/** The windows that are over, oldest first; once the sprint is over, the last one as well. Windows without traffic have none. */
export function relaySummaries(traffic: Traffic, { now, isOver }: { now: number; isOver: boolean }): RelaySummary[] {
  const messages = Map.groupBy(traffic.messages, ({ from, sentAt, says }) => JSON.stringify([from, sentAt, says]));
  const sent = [...traffic.turns.flatMap(ofTurn), ...[...messages.values()].map(ofMessage)].toSorted(
    (a, b) => a.at - b.at,
  );
  return [...Map.groupBy(sent, ({ at }) => Math.floor(at / WINDOW_MS))].flatMap(([window, all]) => {
    const endsAt = (window + 1) * WINDOW_MS;
    if (endsAt > now && !isOver) return [];
    const left = all.length - MOST_LINES;
    const lines = all.slice(0, MOST_LINES).map(({ line }) => `- ${line}`);
    return [{ id: `relay-${window}`, endsAt, lines: [...lines, ...(left > 0 ? [`- and ${left} more`] : [])] }];
  });
}

/** When the window that is open ends (epoch ms). */
export function relayWindowEnd(now: number): number {
  return (Math.floor(now / WINDOW_MS) + 1) * WINDOW_MS;
}

const saysSchema = z.object({ summary: z.string() });

/** Its report: what it was given is in the list of todos. */
function ofTurn({ role, agent, title, endedAt, outcome, answer }: RoleTurn): { at: number; line: string }[] {
  if (endedAt === undefined) return [];
  const { summary } = saysSchema.safeParse(answer).data ?? {};
  const says = summary === undefined ? '' : `: ${plainLine(summary, 200)}`;
  const who = `${plainLine(role, 40)} (${plainLine(agent, 40)})`;
  return [{ at: endedAt, line: `${who} → orchestrator, ${plainLine(title, 120)}, ${outcome ?? 'no result'}${says}` }];
}

/** One message, once for each that it was for. */
function ofMessage(copies: readonly RelayMessage[]): { at: number; line: string } {
  const [{ from, kind, says, sentAt } = { from: '', kind: '', says: '', sentAt: 0 }] = copies;
  const to = copies.map((one) => plainLine(one.to, 40)).join(', ');
  return { at: sentAt, line: `${plainLine(from, 40)} → ${to}, ${kind}: ${plainLine(says, 200)}` };
}
