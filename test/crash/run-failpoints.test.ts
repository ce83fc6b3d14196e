// @module-tag all
import { expect, it } from 'vitest';
import { FAILPOINTS, type FailpointName } from '../../src/substrate/system/failpoint.ts';
import { crashAll, recordReference, spreadFirstPasses, spreadHotPoints, type Reference } from '../support/run-crash.ts';
import { FAN_OUT, REVIEW } from '../support/run-scenarios.ts';
import type { Scenario } from '../support/scenario-parts.ts';
import { ALL, SPREAD, some, spread } from '../support/lane.ts';

/** Passed dozens of times in one run: once is no proof. */
const HOT: readonly FailpointName[] = [
  'graph.waiting',
  'graph.before-apply',
  'operation.noted',
  'graph.applied',
  'attempt.settled',
  'ledger.after-commit',
];

/** Of people's consent, of `squad merge` and `squad coordinate`, of what is removed later, and of large repositories. */
const ELSEWHERE: readonly FailpointName[] = [
  'action.begun',
  'arrive.checked',
  'arrive.cleared',
  'arrive.marked',
  'arrive.received',
  'arrive.released',
  'arrive.taken',
  'folder.before-rename',
  'folder.renamed',
  'follow.asked',
  'follow.begun',
  'follow.decided',
  'follow.merge-asked',
  'follow.planned',
  'follow.posted',
  'follow.repeated',
  'forge.acted',
  'forge.answered',
  'forge.asked',
  'forge.decided',
  'forge.labelled',
  'forge.said',
  'forge.submitted',
  'fork.kept',
  'fork.prepared',
  'fork.recorded',
  'git.made-cleared',
  'git.made-copied',
  'git.made-put',
  'git.moved-aside',
  'git.original-copied',
  'git.original-kept',
  'git.original-noted',
  'git.spare-claimed',
  'git.spare-made',
  'git.spare-moved',
  'git.spare-taken',
  'keep.backup-dropped',
  'keep.before-packed',
  'keep.checkpoints-cut',
  'keep.copies-dropped',
  'keep.noted',
  'keep.output-dropped',
  'keep.packed',
  'keep.ref-dropped',
  'keep.run-dropped',
  'merge.locked',
  'merge.ready',
  'merge.written',
  'message.acted',
  'messages.opened',
  'messages.submitted',
  'move.committed',
  'move.marked',
  'move.packed',
  'move.taken',
  'pack.copied',
  'pack.written',
  'repositories.brought',
  'repositories.opened',
  'repositories.placed',
  'repositories.pushed',
  'review.opened',
  'review.submitted',
  'service.before-engine',
  'service.before-slot',
  'slot.recorded',
  'slot.submitted',
  'sprint.closed',
  'sprint.line',
  'sprint.opened',
  'sprint.submitted',
  'submitted.based',
  'submitted.branch',
  'submitted.named',
  'submitted.recorded',
  'submitted.stored',
  'unpack.checked',
  'unpack.refs',
];

const MINUTES = 60_000;
const references = new Map<string, Promise<Reference>>();

/** Recorded once for all tests. */
function referenceOf(scenario: Scenario): Promise<Reference> {
  const known = references.get(scenario.name) ?? recordReference(scenario);
  references.set(scenario.name, known);
  return known;
}

/*
 * SIGKILL of `squad run` at every point that the run passes, then `squad resume`, killed again at the next, until one
 * ends: the same final state, nothing done twice, nothing harmed. `npm run test:chaos` kills one run for each point.
 */
it.each(
  some(
    [
      { scenario: REVIEW, runs: 5 },
      { scenario: FAN_OUT, runs: 5 },
    ],
    0,
    1,
  ),
)(
  'T1 $scenario.name: killed at the first pass of every failpoint, it ends as if nothing had been',
  { ...SPREAD, timeout: 4 * MINUTES },
  async ({ scenario, runs }) => {
    const reference = await referenceOf(scenario);
    await crashAll(scenario, reference, some(spreadFirstPasses(reference, spread(3 * runs, runs)), 1));
  },
);

const HOT_RUNS = [
  { scenario: FAN_OUT, runs: 2 },
  { scenario: REVIEW, runs: 2 },
];
it.each(some(HOT_RUNS, 0, 1))(
  'T1 $scenario.name: killed where it passes all the time, at many stages, it ends as if nothing had been',
  { ...ALL, timeout: 4 * MINUTES },
  async ({ scenario, runs }) => {
    const reference = await referenceOf(scenario);
    const all = spreadHotPoints(reference, HOT);
    await crashAll(
      scenario,
      reference,
      all.filter((_, index) => index % Math.ceil(all.length / runs) === 0),
    );
  },
);

it('T1 these two runs pass every failpoint there is', { ...ALL, timeout: 4 * MINUTES }, async () => {
  const all = await Promise.all([REVIEW, FAN_OUT].map(referenceOf));
  const passed = new Set(all.flatMap(({ passes }) => [...passes.keys()]));
  expect(FAILPOINTS.filter((point) => !passed.has(point)).toSorted()).toEqual(ELSEWHERE);
});
