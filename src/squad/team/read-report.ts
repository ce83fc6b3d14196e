import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { hasLedger } from '../../substrate/ledger/index.ts';
import { plainLine } from '../../text/plain-text.ts';
import { sprintReport, type SprintReport } from '../../view/report/team/sprint-report.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { gatherFacts } from './gather-facts.ts';
import { lookAtTeam } from './read-team.ts';

/** The report of a sprint, by default of the last one that ended. Throws `usage` for one that is unknown, or where none has ended. */
export async function readSprintReport(
  workspace: OpenedWorkspace,
  timezone: string,
  wanted?: string,
): Promise<SprintReport> {
  const { team } = lookAtTeam(workspace);
  const id = wanted ?? [...team.end.keys()].at(-1);
  if (id === undefined || !hasLedger(workspace.directory))
    throw usageError('no sprint has ended here', 'See `squad sprint status`; `squad sprint start` starts one.');
  const facts = await withLedger(workspace, 'read', async (ledger) =>
    // A report does not show what is in attachments.
    gatherFacts(workspace, ledger, team, { timezone, sprints: [id], isThere: () => true }),
  );
  const report = sprintReport(team, id, facts.sprints.get(id), timezone);
  if (report === undefined)
    throw usageError(
      noSuch('sprint', plainLine(id, 40), [...team.sprint.keys()].toReversed()),
      'Name one of them, or none: `squad sprint report` shows the last one that ended.',
    );
  // Subjects of commits come from git.
  return workspace.composition.redactor([]).json(report);
}
