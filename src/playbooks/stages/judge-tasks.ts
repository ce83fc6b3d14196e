import type { PlanChange } from '../../model/plan/change.ts';
import type { Member } from '../../model/plan/board.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { defined } from '../../text/defined.ts';
import { judgedBy, targetOf, taskIdOf } from './list-facts.ts';
import { entryTitle, type EntryTask } from './entry-tasks.ts';
import { freeId, sessionFor } from './stage-ids.ts';
import type { Stage, StageList } from './stage-list.ts';
import { roleFor, type Scene, type StageProgress } from './stage-progress.ts';
import { placed, taskBefore, titleNow, type Opening } from './opening.ts';

/** One task for each role that judges. */
export function judgeTasks(opening: Opening, common: NewTask): PlanChange[] {
  const { scene, options, progress, of } = opening;
  const { stage, pass } = of;
  const authors = authorsOf(stage, { scene, list: options.list, progress });
  const roles = judgeRoles(stage, authors, scene.roster);
  if (roles.length === 0) {
    const why = `${stage.id}: every agent that could judge did some of the work`;
    return [{ do: 'finish', outcome: 'failed', why }];
  }
  const stem = taskIdOf(stage);
  const used = new Set(opening.taken);
  return roles.flatMap(({ role, agent }, index) => {
    const name = index === 0 ? stem : `${stem.slice(0, Math.max(1, 31 - role.length))}-${role}`;
    const id = freeId(scene, pass.pass === 1 ? name : `${name}-${pass.pass}`, used);
    used.add(id);
    const session = sessionFor(progress, of, { role });
    const task: NewTask = {
      ...{ ...common, id, title: titleNow(opening), role, session, builds: true },
      ...defined({ agent }),
    };
    return placed(task, { stage: stage.id, pass: pass.pass, as: 'judge', role });
  });
}

/** The tasks that judge one entry: one for each role of the stage that did none of the entry's work. */
export function entryJudges(opening: Opening, common: NewTask, { entry, id, needs, added }: EntryTask): PlanChange[] {
  const { scene, options, progress, of } = opening;
  const { stage, pass } = of;
  const authors = new Set(judgedBy(options.list, stage).map((one) => roleFor(one, scene.roster, entry)));
  const roles = judgeRoles(stage, { agents: new Set(), roles: authors }, scene.roster);
  if (roles.length === 0) {
    const why = `${stage.id}: every agent that could judge ${entry.id} does some of its work`;
    return [{ do: 'finish', outcome: 'failed', why }];
  }
  return roles.flatMap(({ role }, index) => {
    const own =
      index === 0 ? id : freeId(scene, `${id.slice(0, Math.max(1, 31 - role.length))}-${role}`, opening.taken);
    const session = sessionFor(progress, of, { role, entry: entry.id }, (id) => taskBefore(opening, id, entry.id));
    const title = entryTitle(options.list, stage, entry);
    const all = [...new Set([...common.needs, ...needs])];
    const task: NewTask = { ...common, id: own, title, role, session, needs: all, builds: true };
    return placed(task, {
      stage: stage.id,
      pass: pass.pass,
      as: 'judge',
      role,
      entry: entry.id,
      ...defined({ added }),
    });
  });
}

interface Authors {
  readonly agents: ReadonlySet<string>;
  readonly roles: ReadonlySet<string | undefined>;
}

/** The roles that judge. `agent`: where only some of the role’s agents may, because another one did some of the work. */
function judgeRoles(
  stage: Stage,
  authors: Authors,
  roster: readonly Member[],
): { role: string; agent?: string | undefined }[] {
  return [...new Set(stage.by)].flatMap((role) => {
    const members = roster.filter((member) => member.role === role);
    const able = members.filter(({ name }) => !authors.agents.has(name));
    if (able.length === 0 || authors.roles.has(role)) return [];
    return [{ role, agent: able.length === members.length ? undefined : able[0]?.name }];
  });
}

/**
 * Who did the work that is judged, by name and by role. Where others stood in for its authors, so that no other agent could judge,
 * only who did what a rejection sends back.
 */
export function authorsOf(
  stage: Stage,
  {
    scene,
    list,
    progress,
  }: { readonly scene: Scene; readonly list: StageList; readonly progress: readonly StageProgress[] },
): Authors {
  const of = (stages: readonly (string | undefined)[]): Authors => {
    const tasks = progress.filter((one) => stages.includes(one.stage.id)).flatMap(({ all }) => all);
    return {
      agents: new Set(tasks.flatMap(({ state }) => state.doneBy ?? [])),
      roles: new Set(tasks.map(({ state }) => state.role)),
    };
  };
  const all = of(judgedBy(list, stage).map(({ id }) => id));
  return judgeRoles(stage, all, scene.roster).length > 0 ? all : of([targetOf(stage)]);
}
