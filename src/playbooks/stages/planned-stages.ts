import { defined } from '../../text/defined.ts';
import { entriesOf, nameOf, needsOf, reviewsIn, stageOf, targetOf, titleOf } from './list-facts.ts';
import { reviewersOf } from './stage-duties.ts';
import type { Stage, StageList, StageReview } from './stage-list.ts';
import type { StagesOptions } from './stage-options.ts';
import { staffedRole } from './stage-progress.ts';

interface Agent {
  readonly name: string;
  readonly role: string;
  readonly runtime: string;
  readonly model?: string | undefined;
}

interface PlannedReview {
  readonly n: number;
  readonly id: string;
  readonly who: readonly Agent[];
  readonly quorum: 'all' | 'any';
  readonly rounds: number;
  readonly session?: StageReview['session'];
  readonly reopens?: StageReview['reopens'];
}

/** A stage before its run, with the agents that may do it. */
export interface PlannedStage {
  /** Its number, as people see it: a review has the next one. */
  readonly n: number;
  readonly id: string;
  readonly title: string;
  readonly who: readonly Agent[];
  readonly needs: readonly string[];
  readonly makes: Stage['makes'];
  readonly requires?: Stage['requires'];
  /** In the order in which they are made. */
  readonly reviews?: readonly PlannedReview[];
  readonly each?: Stage['each'];
  /** Each task begins once that of `each` has the same entry done. */
  readonly follows?: true;
  readonly judges?: Stage['judges'];
  readonly session?: Stage['session'];
  readonly asks?: Stage['asks'];
  readonly onFail?: Stage['onFail'];
  readonly isDone?: Stage['isDone'];
}

/** The stages of a list as a run with these agents would play them. */
export function plannedStages({ list, reviewRounds }: StagesOptions, agents: readonly Agent[]): PlannedStage[] {
  let n = 0;
  return list.stages.map((stage) => {
    const { makes, requires, each, judges, session, asks, onFail, isDone } = stage;
    const author = staffedRole(stage.by, agents);
    const roles = 'checks' in makes ? [] : judges === undefined ? [author ?? ''] : judgesOf(list, stage, agents);
    const who = withRoles(agents, roles);
    n += 1;
    const planned = {
      n,
      id: nameOf(stage),
      title: titleOf(stage),
      who,
      needs: needsOf(list, stage).map((need) => nameOf(stageOf(list, need) ?? { id: need })),
      makes,
    };
    const follows = each !== undefined && entriesOf(list, stage) !== each.of ? (true as const) : undefined;
    const rest = defined({ requires, each, follows, judges, session, asks, onFail, isDone });
    const reviews = reviewsIn(stage).map(({ id, by, quorum = 'all', rounds = reviewRounds, session: of, reopens }) => {
      n += 1;
      const reviewers = withRoles(agents, reviewersOf(by, author ?? '', agents));
      return { n, id, who: reviewers, quorum, rounds, ...defined({ session: of, reopens }) };
    });
    return reviews.length === 0 ? { ...planned, ...rest } : { ...planned, reviews, ...rest };
  });
}

/** Without the role whose work is judged. */
function judgesOf(list: StageList, stage: Stage, agents: readonly Agent[]): string[] {
  const judged = stageOf(list, targetOf(stage) ?? '');
  return reviewersOf(stage.by, staffedRole(judged?.by ?? [], agents) ?? '', agents);
}

function withRoles(agents: readonly Agent[], roles: readonly string[]): Agent[] {
  return agents
    .filter(({ role }) => roles.includes(role))
    .map(({ name, role, runtime, model }) => ({ name, role, runtime, ...defined({ model }) }));
}
