import type { PlannedEntry } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { criterionCheck, type NewTask } from '../../model/plan/task.ts';
import { defined } from '../../text/defined.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { workTask } from '../shared/tasks.ts';
import { adviceText } from './advice.ts';
import { approvalTask } from './approving.ts';
import { formNameOf } from './answers.ts';
import { entryTasks, entryTitle, type EntryTask } from './entry-tasks.ts';
import { handsOver } from './commit-tasks.ts';
import { entryJudges, judgeTasks } from './judge-tasks.ts';
import { committedBy, judgesWhole, stageOf, taskIdOf } from './list-facts.ts';
import { firstId, needsFor, type Opening, placed, taskBefore, titleNow } from './opening.ts';
import { documentsFor, documentsOf, fillBrief, findingLines, hasPlaceholder } from './stage-brief.ts';
import { laterRoles, type Placed, roleFor, staffedRole, type StageProgress } from './stage-progress.ts';
import { putTask, type StageTask } from './stage-records.ts';
import { keptTo } from './kept-paths.ts';
import { deliveryOf, reviewOf } from './stage-duties.ts';
import { freeId, lastTask, sessionFor } from './stage-ids.ts';

/** The tasks of a stage for its current pass, each with the record of its place. */
export function tasksOfStage(opening: Opening): PlanChange[] {
  const { stage, pass } = opening.of;
  if ('approval' in stage.makes) return approvalTask(opening, common(opening));
  if (judgesWhole(stage)) return judgeTasks(opening, common(opening));
  if (pass.way === 'fix') return fixTask(opening);
  if ('checks' in stage.makes) return checkTask(opening, common(opening), stage.makes.checks);
  if (stage.each !== undefined) return entryTasks(opening, taskOfEntry);
  if ('commit' in stage.makes) return commitTask(opening, common(opening));
  const task = { ...common(opening), id: firstId(opening), title: titleNow(opening) };
  const first = placed({ ...task, ...madeBy(opening, task.role) }, { stage: stage.id, pass: pass.pass, as: 'work' });
  return [...first, ...laterTasks(opening, task)];
}

/** The tasks of the other roles of a stage in which all work on the document. They may find nothing to change. */
function laterTasks(opening: Opening, first: NewTask): PlanChange[] {
  const { scene, options, progress, of } = opening;
  const { stage, pass } = of;
  const [path = ''] = documentsOf(stage, options);
  const taken = new Set([...opening.taken, first.id]);
  let before = first;
  return laterRoles(stage, scene.roster).flatMap((role) => {
    const stem = first.id.slice(0, Math.max(1, 31 - role.length));
    const id = freeId(scene, `${stem}-${role}`, taken);
    taken.add(id);
    const text = renderPrompt(
      'stage/later',
      { before: before.role, path, roleName: role, task: first.brief.text },
      scene.prompts,
    );
    const { integrate = false, requires, ...made } = madeBy(opening, role);
    const task: NewTask = {
      ...{ ...first, id, role, title: `${first.title}: ${role}`, brief: { ...first.brief, text } },
      ...{ needs: [...first.needs, before.id], session: sessionFor(progress, of, { role }), ...made, integrate },
      requires: (requires ?? []).filter(({ kind }) => kind !== 'commit' && kind !== 'diff'),
      mayChangeNothing: true,
    };
    before = task;
    return placed(task, { stage: stage.id, pass: pass.pass, as: 'work', role });
  });
}

function documentText({ scene, of }: Opening, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const named = `the ${paths.length === 1 ? 'document' : 'documents'} ${paths.join(', ')}`;
  return [
    renderPrompt('stage/document', { paths: named, isAgain: of.pass.way === 'again' ? 'yes' : '' }, scene.prompts),
  ];
}

function rejectedText({ scene, of: { stage, pass } }: Opening): string[] {
  if (pass.findings.length === 0) return [];
  const facts = { by: pass.by ?? 'A review', judges: stage.judges === undefined ? '' : 'yes' };
  return [
    renderPrompt('stage/rejected', { ...facts, findings: findingLines(pass.findings).join('\n') }, scene.prompts),
  ];
}

/** The parts that all tasks of the stage share. */
function common(opening: Opening, entry?: PlannedEntry): NewTask {
  const { scene, options, progress, of } = opening;
  const { stage } = of;
  const role = roleFor(stage, scene.roster, entry) ?? stage.by[0] ?? '';
  const paths = documentsOf(stage, options);
  const output = formNameOf(stage);
  const advice = adviceText(stage, scene);
  // The verdict on one entry is on none of the run's criteria, which are those of the whole.
  const about = entry === undefined ? scene : { ...scene, objective: { ...scene.objective, criteria: [] } };
  const guide = output === undefined ? undefined : options.forms[output]?.guide?.(about);
  const text = [
    fillBrief({ scene, options, stage, entry, progress }),
    ...documentText(opening, paths),
    ...rejectedText(opening),
    ...(advice === undefined ? [] : [advice]),
    ...(guide === undefined ? [] : [guide]),
  ].join('\n\n');
  const documents = hasPlaceholder(stage, 'documents') ? [] : documentsFor(progress, options, stage);
  const task = workTask({ id: '', title: '', role, brief: text }, { needs: needsFor(opening) });
  const brief = {
    ...task.brief,
    ...(documents.length === 0 ? {} : { files: documents }),
    ...(entry?.files === undefined || entry.files.length === 0 ? {} : { touches: [...entry.files] }),
  };
  const agent = stage.session === 'thread' ? scene.roster.find((member) => member.role === role)?.name : undefined;
  return {
    ...task,
    brief,
    session: sessionFor(progress, of, defined({ entry: entry?.id }), (id) => taskBefore(opening, id, entry?.id)),
    ...defined({
      agent,
      output: output === undefined ? undefined : { schema: output, repairs: options.forms[output]?.repairs ?? 1 },
    }),
  };
}

/** The brief that a task of the stage has now. */
export function briefNow(opening: Opening, entry?: PlannedEntry): NewTask['brief'] {
  return common(opening, entry).brief;
}

/** The task of a stage for one entry. `needs`: besides those of the stage. */
export function taskOfEntry(opening: Opening, about: EntryTask): PlanChange[] {
  const { entry, from, id, needs } = about;
  const { of } = opening;
  const base = common(opening, entry);
  if (of.stage.judges !== undefined) return entryJudges(opening, base, about);
  const commit = 'commit' in of.stage.makes ? commitFor(opening, entry, about.before) : {};
  if (commit === undefined) return [];
  const made = keptTo(opening, { entry, role: base.role, from }, madeBy(opening, base.role, entry));
  const task = {
    ...base,
    id,
    title: entryTitle(opening.options.list, of.stage, entry),
    needs: [...new Set([...base.needs, ...needs])],
    ...made,
    ...commit,
  };
  return placed(task, {
    stage: of.stage.id,
    pass: of.pass.pass,
    as: 'work',
    entry: entry.id,
    ...defined({ added: about.added }),
  });
}

function madeBy(opening: Opening, role: string, entry?: PlannedEntry): Partial<NewTask> {
  const { scene, options, of } = opening;
  const delivery = deliveryOf(of.stage, of.pass.way, options, scene.roster, role);
  const sessions = (stage: string): string | undefined => taskBefore(opening, stage, entry?.id);
  const reviews =
    delivery.workspace === 'own' ? reviewOf({ stage: of.stage, options, scene, author: role, entry, sessions }) : {};
  return { ...delivery, ...reviews };
}

/** A task like one of the stage, whose brief is what a judge found. It continues the session of the work that was judged. */
function fixTask(opening: Opening): PlanChange[] {
  const { scene, of, options } = opening;
  const { stage, pass } = of;
  const before = authorOf(of);
  const role = before?.state.role ?? staffedRole(stage.by, scene.roster) ?? '';
  const lines = findingLines(pass.findings);
  const facts = { by: pass.by ?? 'A judge', findings: lines.join('\n') };
  const brief = renderPrompt('stage/fix', facts, scene.prompts);
  const id = freeId(scene, 'fix-1', new Set([...opening.taken, ...options.list.stages.map(taskIdOf)]));
  const title = `Fix what ${pass.by ?? 'a judge'} found`;
  const sessions = (id: string): string | undefined => lastTask(opening.progress, id);
  const reviews = reviewOf({
    stage,
    options,
    scene,
    author: role,
    findings: lines.map((line) => `this is fixed: ${line}`),
    sessions,
  });
  const task = workTask(
    { id, title, role, brief },
    {
      needs: needsFor(opening),
      session: before === undefined ? 'new' : { of: before.state.id },
      ...deliveryOf(stage, pass.way, options, scene.roster, role),
      ...reviews,
    },
  );
  return placed(task, { stage: stage.id, pass: pass.pass, as: 'fix' });
}

/** The work that most of the findings are about; otherwise the last. */
function authorOf({ all, pass }: StageProgress): Placed | undefined {
  const done = all.filter(({ state: { status } }) => status === 'done');
  const files = pass.findings.flatMap(({ file }) => file ?? []);
  const about = ({ state: { brief } }: Placed): number => files.filter((file) => brief.text.includes(file)).length;
  return done.toSorted((one, other) => about(one) - about(other)).at(-1);
}

/** The engine runs commands. Without any, the stage is skipped, because nothing shows that anything passes. */
function checkTask(opening: Opening, common: NewTask, checks: 'criteria' | readonly string[]): PlanChange[] {
  const { scene, of, options } = opening;
  const requires =
    checks === 'criteria'
      ? scene.objective.criteria.flatMap(({ command }) => (command === undefined ? [] : [criterionCheck(command)]))
      : checks.map((run) => ({ kind: 'command', run }) as const);
  const place = { stage: of.stage.id, pass: of.pass.pass } as const;
  const failed = of.all.findLast(({ state: { status, round } }) => status === 'failed' && round < options.reviewRounds);
  if (failed !== undefined) return checkAgain(failed, common.needs, { ...place, as: 'work' });
  const task: NewTask = { ...common, session: 'new', id: firstId(opening), title: titleNow(opening) };
  if (requires.length > 0) return placed({ ...task, kind: 'check', requires }, { ...place, as: 'work' });
  return nothingToDo(opening, task, 'nothing to check: no criterion has a command');
}

function nothingToDo({ of: { stage, pass } }: Opening, task: NewTask, why: string): PlanChange[] {
  const place = { stage: stage.id, pass: pass.pass, as: 'nothing' } as const;
  return [...placed(task, place), { do: 'settle-task', id: task.id, as: 'skipped', why }];
}

/** The commit of what the stage before left. */
function commitTask(opening: Opening, common: NewTask): PlanChange[] {
  const { options, progress, of } = opening;
  const { stage, pass } = of;
  const from = committedBy(options.list, stage);
  const work = progress.find((one) => one.stage.id === from)?.tasks.findLast(({ state }) => state.status === 'done');
  const task = { ...common, id: firstId(opening), title: titleNow(opening), ...madeBy(opening, common.role) };
  const commit = work?.as === 'work' ? commitFor(opening, undefined, [work.state.id]) : undefined;
  if (commit === undefined) return nothingToDo(opening, { ...task, integrate: false }, 'the work is committed already');
  if (work?.state.commit === undefined) return nothingToDo(opening, task, 'nothing to commit');
  return placed({ ...task, ...commit }, { stage: stage.id, pass: pass.pass, as: 'work' });
}

/** The base of a commit; undefined: the author of the work commits it, or there is no such work. */
function commitFor(
  { scene, options, of: { stage } }: Opening,
  entry: PlannedEntry | undefined,
  before: readonly string[],
): Pick<NewTask, 'base'> | undefined {
  const { list } = options;
  const from = stageOf(list, committedBy(list, stage) ?? '');
  const base = before.at(-1);
  if (from === undefined || base === undefined) return undefined;
  return handsOver(list, from, scene.roster, roleFor(from, scene.roster, entry) ?? '') ? { base } : undefined;
}

/** Reopens the failed check instead of adding a task: a run whose checks pass in the end has no failed task. */
function checkAgain({ state: { id } }: Placed, needs: readonly string[], place: StageTask): PlanChange[] {
  return [
    putTask(id, place),
    { do: 'reopen-task', id, feedback: 'The work was fixed since.', session: 'new', isFault: false },
    { do: 'edit-task', id, needs: [...needs] },
  ];
}
