import type { Playbook, View, WorkspaceRecord } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { PLAN_REQUESTS } from '../../model/playbook-name.ts';
import { reviewOptionsSchema, type ReviewOptions } from '../../model/sprint/options.ts';
import type { RequestPlan } from '../../model/sprint/request.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { plainJson, type Json } from '../../text/json.ts';
import { plainLine, quotedName } from '../../text/plain-text.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageForm } from '../stages/stage-options.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import { backlogNow, itemRecords, putItems } from './backlog-records.ts';
import { attachmentText, backlogText } from './backlog-text.ts';
import { checkedForm } from './forms.ts';
import { requestsAnswerSchema, type RequestsAnswer } from '../../model/sprint/requests-answer.ts';
import { writeBacklog } from '../../model/sprint/backlog-writes.ts';
import { reviewCast, SOURCER, SPRINT_ROLES } from './roles.ts';
import { backgroundOfPlans, candidatesForm, candidatesIn, PLANS, sourceStage } from './sourcer.ts';

const PLANNED = 'request-plans';
const FINDINGS = 'settled-findings';

/** One planner makes items of requests and findings. The run has no branch: it leaves records. */
export function createReviewPlaybook(options: ReviewOptions): Playbook<unknown> {
  const finds = options.findings.length > 0;
  const listOf = (roles: readonly string[], prompts?: ChangedPrompts): StageList => {
    // Braces are placeholders of a list.
    const brief = briefOf(options, prompts).replaceAll('{', '{{');
    const plans: Stage = { id: PLANS, title: 'Plan requests', by: ['planner'], brief, makes: { answer: 'requests' } };
    return { stages: [...(roles.includes('sourcer') ? [sourceStage(foundIn(options), prompts)] : []), plans] };
  };
  const { planner } = SPRINT_ROLES;
  const list: Playbook<unknown> = createStagesPlaybook({
    name: PLAN_REQUESTS,
    list: listOf([]),
    listFor: ({ roles, prompts }) => listOf(roles, prompts),
    isForAgents: true,
    keeps: { ...options },
    // Without findings there is nothing to make candidates of.
    roles: { planner: { ...planner, delivers: 'none' }, ...(finds ? { sourcer: SOURCER } : {}) },
    cast: reviewCast,
    castsEachRole: true,
    answers: { requests: requestsForm(options), ...(finds ? { candidates: candidatesForm(options) } : {}) },
    background: (view, task) => backgroundOfPlans(options, view, task),
    tools: () => [],
    hasNoMail: true,
  });
  return { ...list, records: (view) => recordsOf(options, view) };
}

/** The requests that a run is frozen with; undefined: these are no options of such a run. */
export function frozenReview(options: Json): ReviewOptions | undefined {
  return reviewOptionsSchema.safeParse(options).data;
}

function briefOf(options: ReviewOptions, prompts?: ChangedPrompts): string {
  const { requests, findings, files } = options;
  const asked = requests.map(({ id, text, by, joined, attachments }) =>
    [
      `## ${id}, from ${plainLine(by)}\n\n${text.trim()}`,
      ...joined.map((one) => `Asked again: ${one}`),
      ...attachmentText(attachments, files),
    ].join('\n\n'),
  );
  const facts = { requests: asked.join('\n\n'), found: foundIn({ findings }), backlog: backlogText(options) };
  return renderPrompt('sprint/requests', facts, prompts);
}

function foundIn({ findings }: Pick<ReviewOptions, 'findings'>): string {
  return findings
    .map(({ id, source, title, detail }) => `## ${id} (${source}): ${plainLine(title)}\n\n${detail}`)
    .join('\n\n');
}

function requestsForm(options: ReviewOptions): StageForm {
  const { requests, findings, backlog } = options;
  const sources = [...requests.map(({ id }) => `request:${id}`), ...findings.map(({ id }) => `finding:${id}`)];
  return checkedForm(requestsAnswerSchema, (view, given, task) => {
    const written = writeBacklog(backlogNow(backlog, view), given.proposals.backlog_writes, { now: view.now, sources });
    const known = new Set([...backlog.map(({ id }) => id), ...added(given)]);
    const problems = [...(written.problems ?? []), ...answeredProblems(options, given, known)];
    if (problems.length > 0 || written.problems !== undefined) return { problems };
    return { summary: given.summary, changes: [...putItems(view, written, task), ...putPlans(given, view.now)] };
  });
}

function added({ proposals }: RequestsAnswer): string[] {
  return proposals.backlog_writes.flatMap(({ op, id }) => (op === 'add' ? [id] : []));
}

/** Every request and finding has one answer, and names items that are there. */
function answeredProblems(
  options: ReviewOptions,
  { proposals, role }: RequestsAnswer,
  known: ReadonlySet<string>,
): string[] {
  const { requests, findings } = proposals;
  return [
    ...(role === 'planner' ? [] : ['`role` must be planner']),
    ...onceEach(
      'request',
      options.requests,
      requests.map(({ request_id: id }) => id),
    ),
    ...onceEach(
      'finding',
      options.findings,
      findings.map(({ id }) => id),
    ),
    ...requests.flatMap(({ request_id: id, outcome, items, answer }) => [
      ...(answer.trim() === '' ? [`the request ${quotedName(id)} has no answer for the person who asked`] : []),
      ...(outcome === 'planned' && items.length === 0
        ? [`the request ${quotedName(id)} is planned, and names no item`]
        : []),
      ...(outcome === 'refused' && items.length > 0
        ? [`the request ${quotedName(id)} is refused, and names items`]
        : []),
      ...unknown(items, known).map(
        (item) => `the request ${quotedName(id)} names ${quotedName(item)}, which is no item`,
      ),
    ]),
    ...findings.flatMap(({ id, item }) =>
      unknown(item === null ? [] : [item], known).map(
        (one) => `the finding ${quotedName(id)} names ${quotedName(one)}, which is no item`,
      ),
    ),
  ];
}

function unknown(items: readonly string[], known: ReadonlySet<string>): string[] {
  return items.filter((item) => !known.has(item));
}

function onceEach(what: string, asked: readonly { readonly id: string }[], answered: readonly string[]): string[] {
  const ids = new Set(asked.map(({ id }) => id));
  return [
    ...asked.flatMap(({ id }) => {
      const count = answered.filter((one) => one === id).length;
      return count === 1 ? [] : [`the ${what} ${quotedName(id)} has ${count} answers; it needs one`];
    }),
    ...[...new Set(answered)].flatMap((id) => (ids.has(id) ? [] : [`there is no ${what} ${quotedName(id)}`])),
  ];
}

function putPlans({ proposals }: RequestsAnswer, at: number): PlanChange[] {
  return [
    ...proposals.requests.map(({ request_id: id, outcome, items, answer }): PlanChange => {
      const plan: RequestPlan = { outcome, items: [...new Set(items)], answer, at };
      return { do: 'put', in: PLANNED, id, value: plainJson(plan) };
    }),
    ...proposals.findings.map(({ id, item, reason }): PlanChange => {
      return { do: 'put', in: FINDINGS, id, value: item ?? (reason.trim() === '' ? 'no item' : reason) };
    }),
  ];
}

function recordsOf(options: ReviewOptions, view: View): WorkspaceRecord[] {
  const { findings } = options;
  const candidates = candidatesIn(options, view);
  const settled = new Map(view.records(FINDINGS).map(({ id, value }) => [id, value]));
  return [
    ...itemRecords(view),
    ...view.records(PLANNED).map(({ id, value }) => ({ kind: KINDS.requestPlan, id, value })),
    ...findings.flatMap(({ id, ...finding }) => {
      const by = settled.get(id);
      return by === undefined
        ? []
        : [
            {
              kind: KINDS.finding,
              id,
              value: plainJson({ ...finding, candidate: candidates.get(id) ?? null, settled: by }),
            },
          ];
    }),
  ];
}
