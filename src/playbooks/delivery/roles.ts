import type { CastMember, CastSource, Role } from '../../model/plan.ts';

const PLANNER = `Your role is planner: split the objective into tasks for other agents.
- Look into the repository first: its layout, how to build and test it, and what its own notes require.
- Plan as few tasks as the work needs. A small objective is one task.
- Tasks without \`needs\` are built at the same time, each on its own copy of the code. If two tasks change the same lines, they
  conflict: make them one task, or let one need the other. A task sees the work of the tasks it needs, and no other work.
- Write each brief so that it stands alone. Its reader knows the objective and the brief, but not your reasoning.
- Acceptance criteria are things a reviewer can check: a command that passes, a file that exists, a behaviour with its input and
  output.
- Plan no tasks for review, commit, merge or final tests. The engine does these.
- Only plan. Change no file. Answer in the requested form.`;

const COMMITTER = `Your role is committer: turn reviewed work into commits.
- Commit the work exactly as it is. Change, add and leave out nothing.
- Write what changed in the first line of the message, and why below it.
- If something cannot be committed, say what and why. Force nothing.`;

const TESTER = `Your role is tester: test the delivered work.
- Build it and run its tests. Then try each acceptance criterion as a user would, with wrong input too.
- Report each failure with the command, what you expected and what happened.
- Fix nothing and commit nothing. The author gets your report.
- Something passed only if you saw it pass. Count what you could not try as failed, and give the reason.`;

export const DELIVERY_ROLES: Readonly<Record<string, Role>> = {
  planner: { delivers: 'none', instructions: PLANNER },
  builder: { delivers: 'each' },
  reviewer: { delivers: 'none' },
  committer: { delivers: 'each', instructions: COMMITTER },
  tester: { delivers: 'none', instructions: TESTER },
};

/** Roles that a plan gives no work to. */
const HELPERS: ReadonlySet<string> = new Set(Object.keys(DELIVERY_ROLES).filter((role) => role !== 'builder'));

/** Roles that a plan may give work to. A role that squad does not know builds. */
export function builderRoles(roles: readonly string[]): string[] {
  return [...new Set(roles.filter((role) => !HELPERS.has(role)))];
}

/** One planner, and a builder and a reviewer on every runtime, so that a reviewer is never the author. */
export function deliveryCast({ runtimes }: CastSource): CastMember[] {
  const onEach = (role: string, access: CastMember['access']): CastMember[] =>
    runtimes.map((runtime, index) => ({ name: `${role}-${index + 1}`, role, runtime, access }));
  return [
    { name: 'planner', role: 'planner', runtime: runtimes[0] ?? '', access: 'read-only' },
    ...onEach('builder', 'edit'),
    ...onEach('reviewer', 'read-only'),
  ];
}
