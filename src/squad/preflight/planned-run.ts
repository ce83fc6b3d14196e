import { factsOf } from '../../rules/run-facts.ts';
import type { Playbook } from '../../model/plan.ts';
import { folderOf, type JoinedRepository } from '../../model/repositories.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import { plannedStages, type PlannedStage } from '../../playbooks/stages/planned-stages.ts';
import { optionsOf } from '../../playbooks/stages/stage-options.ts';
import { defined } from '../../text/defined.ts';
import type { Preflight } from './preflight.ts';
import type { TrustItem } from './trust-item.ts';

/** A run as `--dry-run` shows it, before anything starts. */
export interface PlannedRun {
  readonly name: string;
  readonly playbook: string;
  readonly branch: string;
  /** The commit that it would begin from. */
  readonly base: string;
  /** The beginning as a person named it; absent: the commit that is checked out. */
  readonly from?: string;
  /** More repositories that it would work on, each in its folder. Absent: none. */
  readonly repositories?: readonly (Pick<JoinedRepository, 'name' | 'role' | 'root' | 'base'> & {
    readonly folder: string;
  })[];
  readonly agents: readonly (Pick<BoundAgent, 'name' | 'role' | 'runtime' | 'model'> & { readonly access: string })[];
  /** Set if the playbook plays a list. A review is a part of the stage whose work it judges. */
  readonly stages?: readonly PlannedStage[];
  /** Set for other playbooks: the tasks that the run begins with. */
  readonly tasks?: readonly {
    readonly id: string;
    readonly title: string;
    readonly role: string;
    readonly needs: readonly string[];
  }[];
  readonly criteria: readonly { readonly text: string; readonly command?: string }[];
  /** Whether a person has agreed to what needs consent; absent: nothing does. */
  readonly consent?: 'given' | 'needed';
  readonly commands: readonly TrustItem[];
  readonly limits: RunDefinition['limits'];
  readonly plan: RunDefinition['plan'];
  readonly warnings: readonly string[];
}

export function plannedRun(playbook: Playbook<unknown>, { definition, items, warnings }: Preflight): PlannedRun {
  const { name, agents, repository, repositories, objective, limits, plan, trusted } = definition;
  const options = optionsOf(definition);
  const staged = options?.list.shows === 'tasks' ? undefined : options;
  return {
    name,
    playbook: playbook.name,
    branch: `squad/${name}`,
    ...defined({ base: repositories?.home ?? repository.base, from: repository.from }),
    ...(repositories === undefined
      ? {}
      : {
          repositories: repositories.others.map(({ name: id, role, root, base }) => ({
            ...{ name: id, folder: folderOf(id), role, root, base },
          })),
        }),
    agents: agents.map(({ name: agent, role, runtime, model, access }) => ({
      ...{ name: agent, role, runtime },
      ...defined({ model }),
      access: access.level,
    })),
    ...(staged === undefined ? { tasks: firstTasks(playbook, definition) } : { stages: plannedStages(staged, agents) }),
    criteria: objective.criteria.map(({ text, command }) => ({ text, ...defined({ command }) })),
    ...(items.length === 0 ? {} : { consent: trusted === null ? 'needed' : 'given' }),
    commands: items,
    limits,
    plan,
    warnings: warnings.map(({ text }) => text),
  };
}

function firstTasks(playbook: Playbook<unknown>, definition: RunDefinition): PlannedRun['tasks'] & {} {
  const parsed = playbook.parse(factsOf(definition));
  // The preflight has parsed it already.
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return playbook.plan(parsed.input).flatMap((change) => {
    if (change.do !== 'add-task') return [];
    const { id, title, role, needs } = change.task;
    return [{ id, title, role, needs }];
  });
}
