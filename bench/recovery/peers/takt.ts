import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Room } from './room.ts';
import type { Situation } from './situations.ts';
import { PIECES, type Command, type Piece, type Tool } from './tool.ts';

interface Task {
  readonly name: Piece;
  readonly status: string;
  readonly branch: string;
  readonly failure?: { readonly error: string; readonly step?: string };
}

/** Two tasks with the workflow plan, implement, review of its README, and the loop monitor of its `default-mini`; `takt run` with `concurrency: 2`. */
export function takt(version: string, folder: string): Tool {
  const program = [process.execPath, join(folder, 'node_modules', 'takt', 'bin', 'takt')];
  const merge = (branch: string, action = 'merge'): Command => [
    ...program,
    'list',
    '--non-interactive',
    '--action',
    action,
    '--branch',
    branch,
  ];
  const finished = (room: Room): Task[] => tasksOf(room).filter(({ status }) => status === 'completed');
  return {
    ...{ name: 'TAKT', version, commitsItself: true },
    prompts: {
      plan: '- Step: plan\\n.*PIECE: ',
      build: { left: '- Step: implement\\n.*Piece left: ', right: '- Step: implement\\n.*Piece right: ' },
      review: { left: '- Step: review\\n.*Piece left: ', right: '- Step: review\\n.*Piece right: ' },
      conflict: 'Git merge has stopped due to merge conflicts',
    },
    own: ({ usd }) =>
      [
        {
          match: '(Rejected|unproductive): .*Return the matched rule number',
          structured: { step: 2, reason: 'it says so' },
        },
        { match: 'Return the matched rule number', structured: { step: 1, reason: 'it says so' } },
        { match: '- Step: _loop_judge', text: 'unproductive: the same finding again' },
      ].map((entry) => ({ ...entry, mode: 'honest', label: 'judge', usd })),
    verdict: (piece, approved) => ({ text: approved ? `Approved: ${piece}` : `Rejected: ${piece} needs a fix` }),
    prepare: (room, situation) => prepare(room, situation),
    run: [...program, 'run'],
    goOn: (room) => {
      const run = [...program, 'run'];
      // A task that was running when its process ended is found again.
      if (openTasks(room).length === 0) return { words: '`takt run` again', commands: [run] };
      return { words: 'requeue in the menu of `takt list`, `takt run`', commands: [requeue(folder, room), run] };
    },
    deliver: (room) => finished(room).map(({ branch }) => merge(branch)),
    mend: (room) => ({
      words: '`git merge --abort` manually, its sync and its merge again',
      commands: [
        ['git', 'merge', '--abort'],
        ...finished(room).flatMap(({ branch }) => [merge(branch, 'sync'), merge(branch)]),
      ],
    }),
    kill: { in: 'deliver', merge: 1 },
    branches: (room) => [...finished(room).map(({ branch }) => branch), 'main'],
    claim: (room) => {
      const tasks = tasksOf(room);
      const words = tasks.map(
        ({ name, status, failure }) => `${name} ${status}${failure === undefined ? '' : `: ${failure.error}`}`,
      );
      return Promise.resolve({
        done: tasks.every(({ status }) => status === 'completed'),
        words: tasks.length === 0 ? 'both merged' : words.join('; '),
      });
    },
    lacks: { 'cost-cap': 'no limit in money' },
  };
}

function prepare({ repository, home }: Room, situation: Situation): void {
  mkdirSync(join(home, '.takt'), { recursive: true });
  writeFileSync(join(home, '.takt', 'config.yaml'), stringify({ provider: 'claude', language: 'en', concurrency: 2 }));
  const own = join(repository, '.takt');
  mkdirSync(join(own, 'workflows'), { recursive: true });
  writeFileSync(join(own, 'workflows', 'reviewed.yaml'), stringify(WORKFLOW));
  const tasks = PIECES.map((name) => ({
    ...{ name, slug: name, status: 'pending', worktree: true, branch: `takt/${name}`, workflow: 'reviewed' },
    content: `Piece ${name}: write ${situation.name === 'same-lines' ? 'shared' : name}.txt.`,
    ...{ created_at: new Date().toISOString(), started_at: null, completed_at: null },
  }));
  writeFileSync(join(own, 'tasks.yaml'), stringify({ tasks }));
}

const WORKFLOW = {
  name: 'reviewed',
  max_steps: 30,
  initial_step: 'plan',
  loop_monitors: [
    {
      ...{ cycle: ['review', 'implement'], threshold: 3 },
      judge: {
        persona: 'supervisor',
        rules: [
          { condition: 'converging', next: 'review' },
          { condition: 'unproductive', next: 'ABORT' },
        ],
      },
    },
  ],
  steps: [
    {
      name: 'plan',
      persona: 'planner',
      edit: false,
      instruction: 'Plan the task.',
      rules: [{ condition: 'Planning complete', next: 'implement' }],
    },
    {
      ...{ name: 'implement', persona: 'coder', edit: true, required_permission_mode: 'edit' },
      instruction: 'Implement the task.',
      rules: [
        { condition: 'Implementation complete', next: 'review' },
        { condition: 'Cannot proceed', next: 'ABORT' },
      ],
    },
    {
      ...{ name: 'review', persona: 'reviewer', edit: false, instruction: 'Review the work.' },
      rules: [
        { condition: 'Approved', next: 'COMPLETE' },
        { condition: 'Needs fix', next: 'implement' },
      ],
    },
  ],
};

function tasksOf({ repository }: Room): Task[] {
  const path = join(repository, '.takt', 'tasks.yaml');
  return existsSync(path) ? ((parse(readFileSync(path, 'utf8')) as { tasks?: Task[] }).tasks ?? []) : [];
}

function openTasks(room: Room): Task[] {
  return tasksOf(room).filter(({ status }) => ['failed', 'exceeded'].includes(status));
}

/** What its menu calls, with the step that the menu proposes: the menu itself needs a person at a terminal. */
function requeue(folder: string, room: Room): Command {
  const runner = join(folder, 'node_modules', 'takt', 'dist', 'infra', 'task', 'index.js');
  const steps = WORKFLOW.steps.map(({ name }) => name).slice(1);
  const from = openTasks(room).map(({ name, failure }) => [name, steps.find((step) => step === failure?.step) ?? null]);
  const code = `import { TaskRunner } from ${JSON.stringify(runner)};
const runner = new TaskRunner(process.cwd());
for (const [name, step] of ${JSON.stringify(from)}) runner.requeueTask(name, ['failed', 'exceeded'], step ?? undefined);`;
  return [process.execPath, '--input-type=module', '--eval', code];
}
