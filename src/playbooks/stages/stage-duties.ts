import type { Member, Objective } from '../../model/plan/board.ts';
import type { NewTask, Requirement, ReviewPolicy } from '../../model/plan/task.ts';
import { defined } from '../../text/defined.ts';
import type { Entry } from './answers.ts';
import { documentsOf } from './stage-brief.ts';
import type { Stage, StageRequirement } from './stage-list.ts';
import type { StagesOptions } from './stage-options.ts';
import type { Scene } from './stage-progress.ts';
import type { StagePass } from './stage-records.ts';

/** Where the task of a stage works, and what the engine checks before it counts as done. */
export function deliveryOf(
  stage: Stage,
  way: StagePass['way'],
  options: StagesOptions,
  roster: readonly Member[],
  role: string,
): Partial<NewTask> {
  const { makes } = stage;
  if ('answer' in makes && !('document' in makes || 'code' in makes || 'removes' in makes)) return {};
  const paths = documentsOf(stage, options);
  // Without a commit of its author, the engine commits what it left.
  const commits = roster.filter((member) => member.role === role).every((member) => member.commits);
  const changed: Requirement[] = commits ? [{ kind: 'commit' }] : [{ kind: 'diff' }];
  const headings = 'document' in makes ? [...(makes.headings ?? [])] : [];
  const requires: Requirement[] = 'removes' in makes ? [{ kind: 'absent', path: options.folder }] : [];
  requires.push(...paths.map((path) => ({ kind: 'document', path, headings }) as const));
  const only = 'removes' in makes ? [options.folder] : paths;
  if (only.length > 0) requires.push({ kind: 'only', paths: only });
  requires.push(...(stage.requires ?? []).map(requirementOf));
  const mayChangeNothing =
    'removes' in makes || ('code' in makes && (way === 'again' || (makes.mayChangeNothing === true && way !== 'fix')));
  return {
    workspace: 'own',
    integrate: true,
    requires: mayChangeNothing ? requires : [...changed, ...requires],
    ...(mayChangeNothing ? { mayChangeNothing } : {}),
  };
}

function requirementOf(one: StageRequirement): Requirement {
  if ('only' in one) return { kind: 'only', paths: [...one.only] };
  return 'file' in one ? { kind: 'file', path: one.file } : { kind: 'pr' };
}

interface Reviewed {
  readonly stage: Stage;
  readonly options: StagesOptions;
  readonly scene: Pick<Scene, 'roster'> & { readonly objective: Objective };
  /** The role of the author, which does not review. */
  readonly author: string;
  readonly entry?: Entry | undefined;
  readonly findings?: readonly string[];
}

export function reviewOf(about: Reviewed): ReviewPolicy | undefined {
  const { stage, options, scene, author } = about;
  const { review } = stage;
  if (review === undefined) return undefined;
  const by = reviewersOf(review.by, author, scene.roster);
  if (by.length === 0) return undefined;
  return {
    by,
    quorum: review.quorum ?? 'all',
    rounds: review.rounds ?? options.reviewRounds,
    criteria: criteriaOf(about),
    ...defined({ whenNotConverging: options.list.whenNotConverging }),
    ...(stage.onFail === 'skip' ? { withoutVerdict: 'skip' } : {}),
  };
}

/** The staffed roles of a review without that of the author. */
export function reviewersOf(by: readonly string[], author: string, roster: readonly Pick<Member, 'role'>[]): string[] {
  return [...new Set(by)].filter((role) => role !== author && roster.some((member) => member.role === role));
}

function criteriaOf({ stage, options, scene, entry, findings }: Reviewed): string[] {
  const whole = scene.objective.criteria.map(({ text }) => text);
  const possible = whole.map((text) => `it leaves this possible: ${text}`);
  if (findings !== undefined) return [...findings.map((line) => `no longer: ${line}`), ...possible];
  const paths = documentsOf(stage, options);
  if (paths.length > 0) {
    return [...paths.map((path) => `${path} says what the task asks for, and what it says is right`), ...possible];
  }
  if (entry === undefined) return whole.length === 0 ? ['it does what the task asks for'] : whole;
  const own = entry.acceptance.length === 0 ? ['it does what the task asks for'] : entry.acceptance;
  return [...own, ...possible];
}
