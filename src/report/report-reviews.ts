import type { RoundRecord } from '../model/plan/work.ts';
import { code, inline, table } from './markdown.ts';
import type { RunReading } from '../read-model/read-run.ts';

/** Each round on one line; what a failed task was told stands in full under its name. */
export function reviewsSection({ board }: RunReading): string | undefined {
  const rows = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.rounds.map((round, index) => [
      code(task.id),
      `${round.round} of ${task.review?.rounds ?? round.round}`,
      code(round.commit.slice(0, 12)),
      verdictOf(round, work.rounds.slice(0, index)),
      round.by.map(({ role, agent }) => `${inline(role)} (${inline(agent)})`).join(', '),
      inline(round.feedback, 400),
    ]),
  );
  if (rows.length === 0) return undefined;
  return `## Reviews\n\n${table(['task', 'round', 'commit', 'verdict', 'by', 'feedback'], rows)}`;
}

function verdictOf({ approved, findings }: RoundRecord, earlier: readonly RoundRecord[]): string {
  if (approved) return 'approved';
  const before = earlier.findLast((round) => !round.approved)?.findings ?? [];
  const same = findings.length > 0 && findings.join('\n') === before.join('\n');
  return same ? '**rejected**, not converging: the same findings as before' : '**rejected**';
}

export function followUpsSection({ board }: RunReading): string | undefined {
  const lines = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.followUps.map((text) => `- ${code(task.id)}: ${inline(text, 600)}`),
  );
  if (lines.length === 0) return undefined;
  return `## Follow-ups\n\nSeen in review, beyond the criteria: not done.\n\n${lines.join('\n')}`;
}
