import type { TaskState } from '../model/plan/board.ts';
import type { Phase, WorkEvent } from '../model/plan/work.ts';
import type { ConflictedFile, IntegrationAnswer } from '../substrate/ports/workspaces.ts';
import { SquadError } from '../model/errors.ts';
import { findTampering } from './open-place.ts';
import { verify } from './run-commands.ts';
import { headOfRun, readBaseline, type RunSite } from './run-site.ts';

type At<P extends Phase['at']> = Extract<Phase, { at: P }>;

/** The candidate that the run branch would become with this work. */
export async function integrateWork(site: RunSite, state: TaskState, phase: At<'integrating'>): Promise<WorkEvent> {
  const { definition, workspaces } = site;
  const baseline = readBaseline(site);
  if (baseline === undefined) throw new Error(`run ${definition.name} has no baseline`);
  const { id, title } = state.task;
  const message = `Merge ${id}: ${title.replaceAll(/\s+/g, ' ').slice(0, 120)}`;
  const answer = await workspaces.integrate({ run: definition.name, commit: phase.commit, message, baseline });
  return eventOf(site, answer);
}

async function eventOf(site: RunSite, answer: IntegrationAnswer): Promise<WorkEvent> {
  switch (answer.type) {
    case 'candidate':
      return { type: 'integrated', candidate: answer.commit };
    case 'empty':
      return { type: 'integrated', candidate: answer.onto };
    case 'conflict':
      return { type: 'conflict', files: answer.files.map(conflictLine), head: answer.onto };
    case 'refused':
      return refusalOf(site, answer);
  }
}

async function refusalOf(site: RunSite, answer: Extract<IntegrationAnswer, { type: 'refused' }>): Promise<WorkEvent> {
  switch (answer.reason) {
    case 'escaping-links': {
      const files = answer.links.map(({ path, target }) => `${path} (a link to ${target}, outside the repository)`);
      return { type: 'conflict', files, head: await headOfRun(site) };
    }
    case 'unrelated-history':
      return { type: 'conflict', files: ['all of it: it shares no history'], head: await headOfRun(site) };
    case 'baseline':
      return {
        type: 'settle-asked',
        as: 'failed',
        why: (await findTampering(site)) ?? 'git’s configuration was changed',
      };
  }
}

const EXCERPT = 600;

function conflictLine({ path, excerpt }: ConflictedFile): string {
  return excerpt === '' ? path : `${path}\n${excerpt.slice(0, EXCERPT)}\n`;
}

/** The run's `verify` commands, on the merged candidate. */
export async function verifyCandidate(site: RunSite, state: TaskState, phase: At<'verifying'>): Promise<WorkEvent> {
  const { definition, workspaces } = site;
  const { candidate } = phase;
  const worktree = await workspaces.integrationAt(definition.name, candidate);
  const answer = await verify(site, worktree, state.task.id, candidate);
  return { type: 'verified', candidate, passed: answer.ok, output: answer.ok ? '' : answer.output };
}

/** By compare-and-swap: what was verified, or nothing. */
export async function advanceBranch(site: RunSite, phase: At<'advancing'>): Promise<WorkEvent> {
  const { definition, workspaces } = site;
  const from = await headOfRun(site);
  // Whoever moved it to something that the candidate does not hold was not asked to lose it.
  if (!(await workspaces.isAncestor(from, phase.candidate))) return { type: 'branch-moved' };
  const answer = await workspaces.advance(definition.name, from, phase.candidate);
  switch (answer.type) {
    case 'advanced':
      return { type: 'branch-advanced', commit: phase.candidate };
    case 'moved':
      return { type: 'branch-moved' };
    case 'checked-out':
      throw new SquadError({
        code: 'wrong-environment',
        message: `squad/${definition.name} is checked out in ${answer.paths.join(', ')}, so it cannot be moved`,
        next: 'Switch to another branch there, then `squad resume`.',
      });
  }
}
