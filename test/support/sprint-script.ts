import type { SprintOptions } from '../../src/model/sprint/options.ts';
import type { BacklogEntry } from '../../src/model/sprint/item.ts';
import type { Json } from '../../src/text/json.ts';

// Answers that the agents of a scripted sprint give, one function for each form. `request` is the id of the sprint, or of the todo.

export const SPRINT_ID = '261128-Sprint-09:00';

interface Transition {
  readonly [key: string]: Json;
}

/** `workflow_transition`. */
export function transition(outcome: string, more: Transition = {}): Json {
  return {
    ...{ outcome, target_phase: null, target_step: null, reopen_category: null, reason: 'because it is so' },
    ...{
      unresolved_items: [],
      finalize_phase: outcome !== 'continue',
      required_inputs: [],
      recommended_next_step: null,
    },
    ...more,
  };
}

/** Asks for an earlier step. */
export function reopen(category: string): Json {
  return transition('reopen', { reopen_category: category, finalize_phase: false });
}

/** Says that a person has to bring something. */
export function block(...inputs: string[]): Json {
  return transition('block', { required_inputs: inputs, recommended_next_step: 'ask for it', finalize_phase: false });
}

interface Said {
  readonly role: string;
  readonly request: string;
  readonly proposals: { readonly [key: string]: Json };
  readonly more?: { readonly [key: string]: Json };
}

/** The contract that all answers share. */
export function answer({ role, request, proposals, more = {} }: Said): Json {
  const { workflow_transition: asked } = proposals;
  const blocks = JSON.stringify(asked ?? null).includes('"outcome":"block"');
  return {
    ...{ request_id: request, role, status: blocks ? 'blocked' : 'completed', summary: `the ${role} did its part` },
    ...{ insights: [`an insight of ${role}`], artifacts: [], error: null, ...more },
    proposals,
  };
}

/** One write of the planner; by default a new item. */
export function write(id: string, more: { readonly [key: string]: Json } = {}): Json {
  return {
    ...{ op: 'add', id, version: 0, title: `Make ${id}`, kind: 'feature', acceptance: [`${id} works`], priority: 50 },
    ...{ source: null, same_as: null, reason: null, ...more },
  };
}

/** A write that leaves an item as it is. */
export const NO_CHANGE = { title: null, kind: null, acceptance: null, priority: null };

export function reprioritise(id: string, version: number, priority: number): Json {
  return write(id, { ...NO_CHANGE, op: 'reprioritise', version, priority });
}

export function todo(item: string, more: { readonly [key: string]: Json } = {}): Json {
  return {
    ...{ item, title: `Make ${item}`, brief: `Write ${item}.`, acceptance: [`${item} works`], needs: [], ...more },
  };
}

const planner = { role: 'planner', request: SPRINT_ID };
const READ = { attachments_read: [] };

export const RESEARCH = answer({
  ...{ role: 'research', request: SPRINT_ID },
  proposals: {
    ...READ,
    ...{ subject: 'how logins work', no_subject_reason: null, no_sources_reason: null, hints: ['begin with the form'] },
    sources: [{ title: 'The form', where: 'src/form.ts', says: 'it has no check' }],
    workflow_transition: transition('advance'),
  },
});

export const MILESTONE = answer({
  ...planner,
  proposals: { ...READ, title: 'People can log in', workflow_transition: transition('advance') },
});

/** The answer of BACKLOG and of PRIORITIES. */
export function backlog(...writes: Json[]): Json {
  return answer({
    ...planner,
    proposals: { ...READ, backlog_writes: writes, workflow_transition: transition('advance') },
  });
}

export function todos(...chosen: Json[]): Json {
  return answer({ ...planner, proposals: { ...READ, todos: chosen, workflow_transition: transition('advance') } });
}

/** The planner's step of a todo. `complete`: a planning todo. */
export function planned(request: string, asked: Json = transition('advance')): Json {
  const note = `${request} is small`;
  const proposals = { spec_changes: [`${request} is in the spec`], iteration_note: note, workflow_transition: asked };
  return answer({ role: 'planner', request, proposals });
}

export function guidance(request: string, asked: Json = transition('advance')): Json {
  const proposals = { approach: 'the short way', files: ['src/a.ts'], risks: [], checks: ['npm test'] };
  return answer({ role: 'architect', request, proposals: { ...proposals, workflow_transition: asked } });
}

export function built(request: string, asked: Json = transition('advance'), more: Said['more'] = {}): Json {
  const proposals = { commit_subject: null, paths: ['src/a.ts'], no_changes: false, workflow_transition: asked };
  return answer({ role: 'developer', request, proposals, more });
}

export function committed(request: string, subject = `Make ${request}`, paths = ['src/a.ts']): Json {
  const proposals = { commit_subject: subject, paths, no_changes: false };
  return answer({
    ...{ role: 'version-controller', request },
    proposals: { ...proposals, workflow_transition: transition('complete') },
  });
}

export const REPORT = answer({
  ...planner,
  proposals: {
    report: {
      ...{ headline: 'Logins work', overview: 'People can log in now.', judgement: 'the milestone is reached' },
      changes: [{ title: 'Login', before: 'none', after: 'a form', artifacts: ['src/a.ts'], why: 'it was asked for' }],
      contributions: [{ role: 'developer', text: 'built the form' }],
      ...{ issues: [], achievements: ['no rework'] },
    },
    workflow_transition: transition('complete'),
  },
});

/** The answer of the run that plans requests. `items` by request. */
export function requestPlans(
  plans: Readonly<Record<string, readonly string[]>>,
  writes: readonly Json[],
  findings: readonly Json[] = [],
): Json {
  const requests = Object.entries(plans).map(([id, items]): Json => {
    const outcome = items.length === 0 ? 'refused' : 'planned';
    return { request_id: id, outcome, items: [...items], answer: `${id} is ${outcome}` };
  });
  return {
    ...{ role: 'planner', status: 'completed', summary: 'planned', insights: [], artifacts: [], error: null },
    proposals: { backlog_writes: [...writes], requests, findings: [...findings] },
  };
}

/** An item of the backlog that a run is frozen with. */
export function entry(id: string, more: Partial<BacklogEntry> = {}): BacklogEntry {
  return {
    ...{ id, title: `Make ${id}`, kind: 'feature', acceptance: [`${id} works`], priority: 50, source: 'request:r-1' },
    ...{ version: 1, createdAt: 1, updatedAt: 1, state: 'pending', ...more },
  };
}

export function sprintOptions(more: Partial<SprintOptions> = {}): SprintOptions {
  return {
    sprint: SPRINT_ID,
    kickoff: {
      ...{ milestone: 'Logins', text: 'People can log in.', items: [], attachments: [], by: 'dana', trigger: 'person' },
    },
    files: '/state/attachments',
    backlog: [],
    timezone: 'Asia/Seoul',
    ...{ maxTodos: 5, advice: 2, until: null, policy: { roles: {} }, commitPolicy: '', estimate: 'no estimate' },
    ...more,
  };
}
