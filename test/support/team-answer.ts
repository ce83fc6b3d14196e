import type { Team } from '../../src/playbooks/coordinate/answer.ts';
import type { Entry } from '../runs/run-script.ts';
import type { SessionAbout } from './session-folder.ts';

type Task = Team['tasks'][number];

export function plannedRole(name: string, more: Partial<Team['roles'][number]> = {}): Team['roles'][number] {
  return {
    name,
    prefix: name.slice(0, 4).toUpperCase(),
    responsibility_type: 'code-gen',
    inner_loop: false,
    identity: `You are the ${name} of this team.`,
    must: ['Do what the subject of the task says.'],
    must_not: ['Do the tasks of other roles.'],
    phases: ['Understand', 'Plan', 'Work', 'Check', 'Report'].map((title) => ({
      title,
      steps: [`${title} the task.`],
    })),
    ...more,
  };
}

export function plannedTask(id: string, owner: string, blockedBy: readonly string[] = []): Task {
  return { id, subject: `Do ${id}`, owner, blockedBy: [...blockedBy] };
}

/** A right answer of the planner: two roles, three tasks. */
export function teamAnswer(more: Partial<Team> = {}): Team {
  return {
    capabilities: [{ name: 'writing', description: 'Writes what is asked for', artifact_type: 'code' }],
    roles: [plannedRole('writer'), plannedRole('checker', { responsibility_type: 'read-only' })],
    tasks: [
      plannedTask('WRIT-001', 'writer'),
      plannedTask('WRIT-002', 'writer', ['WRIT-001']),
      plannedTask('CHEC-001', 'checker', ['WRIT-002']),
    ],
    complexity_score: 3,
    ...more,
  };
}

/** The session that it becomes, as `workers` plays it. */
export function sessionOfTeam({ roles, tasks }: Team): SessionAbout {
  return {
    roles: roles.map(({ name, responsibility_type: responsibility }) => ({ name, responsibility })),
    tasks: tasks.map(({ id, owner: role, blockedBy: needs }) => ({ id, role, needs })),
  };
}

/** Two tasks wait for each other. */
export const CIRCLE: Team = teamAnswer({
  tasks: [plannedTask('WRIT-001', 'writer', ['CHEC-001']), plannedTask('CHEC-001', 'checker', ['WRIT-001'])],
});

/** A task is for a role that the team lacks. */
export const LOST_ROLE: Team = teamAnswer({ roles: [plannedRole('writer')] });

/** The turns of the planner, one answer each. */
export function planner(...answers: readonly unknown[]): Entry[] {
  return [
    { when: '# Task coordinate', steps: [{ answer: 'designed' }], structured: answers[0] },
    ...answers.slice(1).map((structured, index) => ({
      ...{ when: 'Your answer did not have the required form', turn: index + 2 },
      ...{ steps: [{ answer: 'designed' }], structured },
    })),
  ];
}
