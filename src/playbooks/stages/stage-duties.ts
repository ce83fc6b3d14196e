import { ownCriterion } from '../shared/own-criterion.ts';
import type { PlannedEntry } from '../../model/plan.ts';
import type { Member, Objective } from '../../model/plan/board.ts';
import type { NewTask, Requirement, ReviewPolicy } from '../../model/plan/task.ts';
import { defined } from '../../text/defined.ts';
import { commitsItself, handsOver } from './commit-tasks.ts';
import { documentsOf } from './stage-brief.ts';
import { reviewsIn } from './list-facts.ts';
import type { Reopens, Stage, StageRequirement, StageReview } from './stage-list.ts';
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
  const handsOn = way !== 'fix' && handsOver(options.list, stage, roster, role);
  // The agent that commits the work shows its pull request.
  const more = (stage.requires ?? []).map(requirementOf).filter(({ kind }) => !handsOn || kind !== 'pr');
  if ('commit' in makes) return { workspace: 'own', integrate: true, requires: [{ kind: 'commit' }, ...more] };
  if ('answer' in makes && !('document' in makes || 'code' in makes || 'removes' in makes)) return {};
  const paths = documentsOf(stage, options);
  // Without a commit of its author, another stage or the engine commits what it left.
  const commits = commitsItself(role, roster);
  const changed: Requirement[] = commits ? [{ kind: 'commit' }] : [];
  // A commit without a change is no work.
  if (!commits || ('code' in makes && stage.each !== undefined)) changed.push({ kind: 'diff' });
  const headings = 'document' in makes ? [...(makes.headings ?? [])] : [];
  const requires: Requirement[] = 'removes' in makes ? [{ kind: 'absent', path: options.folder }] : [];
  requires.push(...paths.map((path) => ({ kind: 'document', path, headings }) as const));
  const only = 'removes' in makes ? [options.folder] : paths;
  if (only.length > 0) requires.push({ kind: 'only', paths: only });
  requires.push(...more);
  const mayChangeNothing =
    'removes' in makes || ('code' in makes && (way === 'again' || (makes.mayChangeNothing === true && way !== 'fix')));
  return {
    workspace: 'own',
    integrate: !handsOn,
    requires: mayChangeNothing ? requires : [...changed, ...requires],
    ...(mayChangeNothing ? { mayChangeNothing } : {}),
  };
}

function requirementOf(one: StageRequirement): Requirement {
  if ('subject' in one) return { kind: 'subject', ...one.subject };
  if ('only' in one) return { kind: 'only', paths: [...one.only] };
  return 'file' in one ? { kind: 'file', path: one.file } : { kind: 'pr' };
}

interface Reviewed {
  readonly stage: Stage;
  readonly options: StagesOptions;
  readonly scene: Pick<Scene, 'roster' | 'prompts'> & { readonly objective: Objective };
  /** The role of the author, which does not review. */
  readonly author: string;
  readonly entry?: PlannedEntry | undefined;
  readonly findings?: readonly string[];
  /** The task of a stage, for a reviewer that continues in its session. Absent: none does. */
  readonly sessions?: (stage: string) => string | undefined;
}

/** The reviews of its task, in their order. */
export function reviewOf(about: Reviewed): Pick<NewTask, 'review' | 'laterReviews'> {
  const { stage, options, scene, author, sessions } = about;
  const all = reviewsIn(stage).flatMap((review): ReviewPolicy[] => {
    const by = reviewersOf(review.by, author, scene.roster);
    const of = review.session && sessions?.(review.session.of);
    if (by.length === 0) return [];
    const policy: ReviewPolicy = {
      by,
      quorum: review.quorum ?? 'all',
      rounds: review.rounds ?? options.reviewRounds,
      criteria: criteriaOf(about),
      ...defined({ whenNotConverging: options.list.whenNotConverging }),
      ...(stage.onFail === 'skip' ? { withoutVerdict: 'skip' } : {}),
      ...(of === undefined ? {} : { session: { of } }),
      ...defined({ reopens: waysOf(review, about.findings !== undefined) }),
    };
    return [reviewsIn(stage).length === 1 ? policy : { id: review.id, ...policy }];
  });
  return inOrder(all);
}

/** A fix has its own findings, so no stage before it is done again. */
function waysOf({ reopens }: StageReview, isFix: boolean): ReviewPolicy['reopens'] {
  if (reopens === undefined) return undefined;
  const wayOf = (to: Reopens): 'author' | 'block' | 'playbook' =>
    typeof to === 'string' ? to : isFix ? 'author' : 'playbook';
  return Object.fromEntries(Object.entries(reopens).map(([category, to]) => [category, wayOf(to)]));
}

/** A task holds its first review apart from later ones. */
export function inOrder([review, ...laterReviews]: readonly ReviewPolicy[]): Pick<NewTask, 'review' | 'laterReviews'> {
  return defined({ review, laterReviews: laterReviews.length === 0 ? undefined : laterReviews });
}

/** The staffed roles of a review without that of the author. */
export function reviewersOf(by: readonly string[], author: string, roster: readonly Pick<Member, 'role'>[]): string[] {
  return [...new Set(by)].filter((role) => role !== author && roster.some((member) => member.role === role));
}

function criteriaOf({ stage, options, scene, entry, findings }: Reviewed): string[] {
  const whole = scene.objective.criteria.map(({ text }) => text);
  const possible = whole.map((text) => ownCriterion({ criterion: text }, scene.prompts));
  if (findings !== undefined) return [...findings, ...possible];
  const paths = documentsOf(stage, options);
  if (paths.length > 0) {
    return [...paths.map((path) => ownCriterion({ document: path }, scene.prompts)), ...possible];
  }
  if (entry === undefined) return whole.length === 0 ? ['it does what the task asks for'] : whole;
  const own = entry.acceptance.length === 0 ? ['it does what the task asks for'] : entry.acceptance;
  return [...new Set([...own, ...possible])];
}
