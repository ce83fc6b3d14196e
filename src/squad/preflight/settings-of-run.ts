import { keptPaths } from '../../model/keep.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Objective } from '../../model/objective.ts';
import type { RunDefinition } from '../../model/run.ts';
import type { Settings } from '../../model/settings.ts';
import { defined } from '../../text/defined.ts';
import { problemError } from './read-input.ts';
import type { Subject } from './source.ts';

/** A person's choices, over the settings. */
interface Choices {
  readonly plan?: RunDefinition['plan'] | undefined;
  readonly attended?: boolean | undefined;
  readonly yes: boolean;
  readonly strict?: boolean | undefined;
}

/** The settings that the run uses as they are, or as the caller chose in their place. */
export function settingsOf(
  { plan, attended, yes, strict }: Choices,
  settings: Settings,
  { planning }: Playbook<unknown>,
  objective: Objective,
): Pick<
  RunDefinition,
  | 'setup'
  | 'verify'
  | 'env'
  | 'keep'
  | 'folders'
  | 'sparse'
  | 'protect'
  | 'checks'
  | 'looks'
  | 'baseline'
  | 'notify'
  | 'publish'
  | 'tracing'
  | 'mail'
  | 'plan'
  | 'strict'
> {
  const keep = [...keptPaths(settings.keep)];
  const { setup, verify, env, folders, sparse, baseline, notify, publish, tracing, mail } = settings;
  const byDefault = attended === true && !yes && planning?.byDefault !== 'auto' ? 'ask' : 'auto';
  return {
    ...{ setup, verify, baseline, notify, publish, tracing, mail },
    ...(env.length === 0 ? {} : { env }),
    ...(keep.length === 0 ? {} : { keep }),
    ...(folders === 'new' ? { folders } : {}),
    ...(sparse.length === 0 ? {} : { sparse: sparse.map((folder) => folder.replace(/\/$/, '')) }),
    ...judgingOf(settings, objective),
    plan: plan ?? settings.plan ?? byDefault,
    strict: strict ?? settings.strict,
  };
}

/** How the work is judged: what the objective says counts, or comes to what the settings say. */
function judgingOf(
  settings: Settings,
  { frontMatter }: Objective,
): Pick<RunDefinition, 'protect' | 'checks' | 'looks'> {
  const protect = [...new Set([...settings.protect, ...(frontMatter.protect ?? [])])];
  const checks = frontMatter.checks ?? settings.checks;
  const { looks } = frontMatter.review ?? settings.review;
  return {
    ...(protect.length === 0 ? {} : { protect }),
    ...(checks === 'base' ? { checks } : {}),
    ...(looks === 'required' ? { looks } : {}),
  };
}

/** Throws for a deadline that has passed. */
export function refusePassed({ objective: { deadline, file: own }, deadlineIn }: Subject, now: number): void {
  if (deadline === undefined || deadline.at > now) return;
  const { file, next } = deadlineIn ?? { file: own, next: `Give ${own} a later deadline, or take it out.` };
  throw problemError([{ file, line: deadline.line, message: `the deadline ${deadline.text} has passed` }], next);
}

/** The part of the objective that a run keeps. */
export function objectiveOf(objective: Objective): RunDefinition['objective'] {
  const { title, goals, criteria, constraints, context, priority, deadline, text } = objective;
  return defined({ title, goals, criteria, constraints, context, priority, deadline: deadline?.at, text });
}
