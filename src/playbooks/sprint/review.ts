import type { Playbook, View, WorkspaceRecord } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { PLAN_REQUESTS } from '../../model/playbook-name.ts';
import { reviewOptionsSchema, type ReviewOptions } from '../../model/sprint/options.ts';
import type { RequestPlan } from '../../model/sprint/request.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { plainJson, type Json } from '../../text/json.ts';
import { quotedName } from '../../text/plain-text.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageForm } from '../stages/stage-options.ts';
import { backlogNow, itemRecords, putItems } from './backlog-records.ts';
import { checkedForm, saidProblems } from './forms.ts';
import { requestsAnswerSchema, type RequestsAnswer } from '../../model/sprint/requests-answer.ts';
import { writeBacklog } from '../../model/sprint/backlog-writes.ts';
import { reviewList } from './review-list.ts';
import { reviewCast, SOURCER, SPRINT_ROLES } from './roles.ts';
import { backgroundOfPlans, candidatesForm, candidatesIn } from './sourcer.ts';

const PLANNED = 'request-plans';
const FINDINGS = 'settled-findings';

/** One planner makes items of requests and findings. The run has no branch: it leaves records. */
export function createReviewPlaybook(options: ReviewOptions): Playbook<unknown> {
  const finds = options.findings.length > 0;
  const { planner } = SPRINT_ROLES;
  const list: Playbook<unknown> = createStagesPlaybook({
    name: PLAN_REQUESTS,
    list: reviewList(options, []),
    listFor: ({ roles, prompts }) => reviewList(options, roles, prompts),
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

function requestsForm(options: ReviewOptions): StageForm {
  const { requests, findings, backlog } = options;
  const sources = [...requests.map(({ id }) => `request:${id}`), ...findings.map(({ id }) => `finding:${id}`)];
  return checkedForm(requestsAnswerSchema, (view, given, task) => {
    const { backlog_writes: writes } = given.proposals;
    const written = writeBacklog(backlogNow(backlog, view), writes, { now: view.now, sources });
    const added = writes.flatMap(({ op, id }) => (op === 'add' ? [id] : []));
    const known = new Set([...backlog.map(({ id }) => id), ...added]);
    return {
      problems: [...(written.problems ?? []), ...answeredProblems(options, given, known)],
      summary: given.summary,
      changes: [...putItems(view, written, task), ...putPlans(given, view.now)],
    };
  });
}

/** Every request and finding has one answer, and names items that are there. */
function answeredProblems(options: ReviewOptions, given: RequestsAnswer, known: ReadonlySet<string>): string[] {
  const { requests, findings } = given.proposals;
  const planned = requests.map(({ request_id: id }) => ({ id }));
  const about = (what: string, items: readonly string[]): string[] =>
    items.filter((item) => !known.has(item)).map((item) => `${what} names ${quotedName(item)}, which is no item`);
  return [
    ...saidProblems(given, ['planner']),
    ...onceEach('request', options.requests, planned),
    ...onceEach('finding', options.findings, findings),
    ...requests.flatMap(({ request_id: id, outcome, items }) => {
      const what = `the request ${quotedName(id)}`;
      const fits = (outcome === 'planned') === items.length > 0;
      const named = items.length > 0 ? 'names items' : 'names no item';
      return [...(fits ? [] : [`${what} is ${outcome}, and ${named}`]), ...about(what, items)];
    }),
    ...findings.flatMap(({ id, item }) => about(`the finding ${quotedName(id)}`, item === null ? [] : [item])),
  ];
}

type Named = readonly { readonly id: string }[];

function onceEach(what: string, asked: Named, answered: Named): string[] {
  const ids = new Set(asked.map(({ id }) => id));
  const given = answered.map(({ id }) => id);
  return [
    ...[...ids].flatMap((id) => {
      const count = given.filter((one) => one === id).length;
      return count === 1 ? [] : [`the ${what} ${quotedName(id)} has ${count} answers; it needs one`];
    }),
    ...[...new Set(given)].flatMap((id) => (ids.has(id) ? [] : [`there is no ${what} ${quotedName(id)}`])),
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
  const candidates = candidatesIn(options, view);
  return [
    ...itemRecords(view),
    ...view.records(PLANNED).map(({ id, value }) => ({ kind: KINDS.requestPlan, id, value })),
    ...options.findings.flatMap(({ id, ...finding }) => {
      const settled = view.record(FINDINGS, id);
      const value = { ...finding, candidate: candidates.get(id) ?? null, settled };
      return settled === undefined ? [] : [{ kind: KINDS.finding, id, value: plainJson(value) }];
    }),
  ];
}
