import { join } from 'node:path';
import { KINDS } from '../../model/sprint/kinds.ts';
import type { PlannerReview } from '../../model/sprint/request.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { attachmentsFolder } from '../../substrate/system/files/run-files.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { plainJson } from '../../text/json.ts';
import type { TrustOption } from '../new-run.ts';
import { runIdOf, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { submit } from '../submit.ts';
import { workable } from './open-sprint.ts';
import { lookAtTeam, runStateIn, teamIn } from './read-team.ts';

/** Records which requests and findings one run of the planner has to plan. Its run is submitted next. */
export async function openReview(
  workspace: OpenedWorkspace,
  what: Pick<PlannerReview, 'requests' | 'findings'>,
): Promise<void> {
  const { composition, directory } = workspace;
  await briefly(join(directory, 'team.lock'), async () =>
    withLedger(workspace, 'write', (ledger) => {
      const { review, requestPlan, request } = teamIn(ledger);
      // Another process may have decided at the same time, and two planners at once could write the same item.
      const last = [...review.values()].at(-1);
      if (last !== undefined && runStateIn(ledger, last.run) !== 'over') return;
      // Another process may have been faster, or its sender has cancelled it.
      const requests = what.requests.filter((id) => !requestPlan.has(id) && request.get(id)?.cancelledAt === undefined);
      const findings = what.findings.filter((id) => ![...review.values()].some((one) => one.findings.includes(id)));
      if (requests.length + findings.length === 0) return;
      const id = `plan-${review.size + 1}`;
      const value = { run: runIdOf(directory, id), requests, findings, at: composition.clock.now() };
      ledger.writeRecord({ kind: KINDS.review, id, value: plainJson(value), after: 0 });
      failpoint('review.opened');
    }),
  );
}

/** Submits the run of a planner's review that is on record. Safe to repeat. */
export async function submitReview(workspace: OpenedWorkspace, id: string, trust: TrustOption = {}): Promise<void> {
  const { host, composition, directory } = workspace;
  const { team } = lookAtTeam(workspace);
  const review = team.review.get(id);
  if (review === undefined) return;
  const requests = review.requests.flatMap((one) => {
    const { text, by, joined, attachments } = team.request.get(one) ?? {};
    if (text === undefined || by === undefined) return [];
    return [{ id: one, text, by, joined: (joined ?? []).map((more) => more.text), attachments: attachments ?? [] }];
  });
  const findings = review.findings.flatMap((one) => {
    const finding = team.finding.get(one);
    return finding === undefined ? [] : [{ id: one, ...finding }];
  });
  const options = { files: attachmentsFolder(directory), requests, findings, backlog: workable(team) };
  await submit({ host, composition }, { review: options }, { key: id, name: id, ...trust });
  failpoint('review.submitted');
}
