import type { IssueRecord } from '../../model/forge/issue-record.ts';
import { judgeIssue } from '../../rules/forge/judge-issue.ts';
import { priorityOf } from '../../rules/forge/issue-order.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import { defined } from '../../text/defined.ts';
import { keepIssue, roleOf, type IssuePorts } from './issue-ports.ts';

/** Looks who set the label, and writes down that the issue is taken, or left, or as it was. Nothing is started yet. */
export async function takeIssue(
  ports: IssuePorts,
  { number, changed }: { readonly number: number; readonly changed: string },
): Promise<NotDone | undefined> {
  const { forge, intake, redactor, say, seen } = ports;
  const answer = await forge.read({ number, label: intake.label });
  if (isNotDone(answer)) return answer;
  const { issue } = answer;
  const before = seen.records.get(number);
  const role = await roleOf(ports, issue.set?.by);
  if (role !== undefined && typeof role === 'object') return role;
  const judged = judgeIssue({ issue, before, role, by: intake.by });
  if (judged === 'nothing') return before === undefined ? undefined : keepIssue(ports, { ...before, seen: changed });
  const { set, labels } = issue;
  if (set === undefined) return undefined;
  const fresh: IssueRecord = {
    number,
    round: (before?.round ?? 0) + 1,
    set,
    seen: changed,
    asked: [],
    ...shown(before),
  };
  if (judged !== 'taken') {
    say(
      `issue ${number} is left: ${judged === 'edited' ? 'its text is newer than its label' : 'its label is of a person who may not'}`,
    );
    await keepIssue(ports, { ...fresh, left: judged });
    return undefined;
  }
  const named = Object.entries(intake.playbooks).find(([label]) => labels.includes(label));
  const text = { title: redactor.text(issue.title), body: redactor.text(issue.body), url: issue.url };
  await keepIssue(ports, { ...fresh, text, ...defined({ playbook: named?.[1], priority: priorityOf(labels) }) });
  return undefined;
}

/** Its labels are still those of the round before. */
function shown(before: IssueRecord | undefined): Partial<IssueRecord> {
  return before?.label === undefined ? {} : { label: before.label };
}
