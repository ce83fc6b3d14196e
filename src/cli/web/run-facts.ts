import type { MailStatus } from '../../substrate/ports/mailbox.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { readEstimate } from '../../view/estimate.ts';
import { openProposal } from '../../view/proposed-plan.ts';
import { readHistory, type RunHistory } from '../../view/read-run.ts';
import { foldPatch, type Patch } from '../../view/report/patch.ts';
import type { RunView } from '../../view/run-view.ts';
import { mailOf } from '../../view/view-of.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import { workRangeOf } from '../../view/work-range.ts';
import { viewInGit } from '../../squad/ended-run.ts';
import { type OpenedRun, withRun } from '../../squad/open-run.ts';
import type { OpenedWorkspace } from '../../squad/open-workspace.ts';
import { readPermissionAsks } from '../../squad/permission-asks.ts';
import { readDiff, type DiffRange } from '../../substrate/git/show-diff.ts';
import { findRange } from '../find-range.ts';
import { planFile } from '../ask/plan-file.ts';

/** The work of a task, as the last look at its folder found it. */
export interface TaskWork {
  readonly task: string;
  readonly commit: string;
  readonly patch: Patch;
}

/** A run, read as a whole. */
export interface RunFacts {
  readonly now: number;
  readonly reading: RunHistory;
  readonly view: RunView;
  readonly mail: MailStatus | undefined;
  /** The plan that is asked about, as a file to change. */
  readonly plan: { readonly question: string; readonly file: string } | undefined;
  readonly works: readonly TaskWork[];
  /** Absent: the run is of no team. */
  readonly team?: ShownTeam | undefined;
}

/** The works as they were read last, with what they followed from: git takes longer than all the rest. */
export type KnownWorks = Map<string, { readonly of: string; readonly work: TaskWork | undefined }>;

export async function readFacts(workspace: OpenedWorkspace, runId: string, known: KnownWorks): Promise<RunFacts> {
  const { playbooks } = workspace.composition;
  const opened = withRun(workspace, runId, (ledger, given, { lockedBy }) => {
    const reading = readHistory(ledger, given, lockedBy, playbooks);
    const proposal = openProposal(reading);
    const about = { playbook: reading.definition.playbook, except: runId };
    const estimate = proposal && readEstimate(ledger, about);
    return {
      reading,
      proposal,
      estimate,
      mail: mailOf(ledger, runId),
      live: ledger.attempts({ runId, status: 'spawned' }),
    };
  });
  const { reading, proposal, estimate, mail, live, now } = opened;
  const asks = await readPermissionAsks(opened, live);
  const view = await viewInGit(opened, reading, { now, mail, asks, estimate });
  const plan = proposal && { question: proposal.question, file: planFile(proposal.answer) };
  return { now, reading, view, mail, plan, works: await readWorks(opened, known) };
}

/** The work of one task as it is now; undefined: it has none, or it is gone. */
export async function readWork(opened: OpenedRun, task: string): Promise<TaskWork | undefined> {
  const range = await findRange({ ...opened, task });
  return range && { task, commit: range.to, patch: await patchOf(opened, range) };
}

/** All that the run has delivered so far. */
export interface Changes {
  readonly from: string;
  readonly commit: string;
  readonly patch: Patch;
}

/** undefined: it has delivered nothing yet. `known`: what was read before, which is given back if it is the same. */
export async function readChanges(opened: OpenedRun, known: Changes | undefined): Promise<Changes | undefined> {
  const range = await findRange(opened);
  if (range === undefined || range.from === range.to) return undefined;
  const isSame = known?.from === range.from && known.commit === range.to;
  return isSame ? known : { from: range.from, commit: range.to, patch: await patchOf(opened, range) };
}

async function readWorks(opened: OpenedRun, known: KnownWorks): Promise<TaskWork[]> {
  const works: TaskWork[] = [];
  for (const { task, work } of opened.reading.board.tasks.values()) {
    const range = workRangeOf(opened.reading, { task: task.id }, []);
    const of = JSON.stringify([range, work.phase.at]);
    const before = known.get(task.id);
    const now = before?.of === of ? before : { of, work: await readWork(opened, task.id) };
    known.set(task.id, now);
    if (now.work !== undefined && now.work.patch.files.length > 0) works.push(now.work);
  }
  return works;
}

/** Without secrets. */
async function patchOf({ composition, repository, reading }: OpenedRun, range: DiffRange): Promise<Patch> {
  const patch = await foldPatch(readDiff(composition.git, repository, range, 'patch'));
  return composition.redactor(letThroughBy(reading.definition)).json(patch);
}
