import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/text/json.ts';
import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { createView } from '../../src/graph/decisions/view.ts';
import { factsOf, member, simulate, type Played, type Script } from './simulator.ts';

function play(script: Script): Played {
  const playbook = createObjectivePlaybook();
  const facts = factsOf(TEAM);
  const parsed = playbook.parse({ ...facts, files: [] });
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script });
}

/** Answers by task id, for turns that do the work. */
function answers(byTask: Record<string, Json>): Script {
  return {
    turn: ({ task, review }) => {
      const output = review === null ? byTask[task] : undefined;
      return output === undefined ? undefined : { output };
    },
  };
}

const TEAM = [
  member('pm', 'pm'),
  member('ba', 'ba'),
  member('builder-1', 'builder'),
  member('builder-2', 'builder'),
  member('reviewer', 'reviewer'),
];

describe('objective', () => {
  it('walks its stages in order, with both builders side by side', () => {
    const played = play(answers({ 'post-review': { approved: true, summary: 'good' } }));
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    const together = played.steps.flatMap(({ next }) =>
      next.next === 'start' && next.starts.length > 1 ? [next.starts] : [],
    );
    const pairs = together.map((starts) =>
      starts.map((start) => start.start === 'turn' && `${start.task} ${start.agent}`),
    );
    expect(pairs).toContainEqual(['implementation-1 builder-1', 'implementation-2 builder-2']);
    const [file] = createObjectivePlaybook().files?.(createView(played.board)) ?? [];
    expect(JSON.parse(file?.text ?? '')).toMatchObject({ review_iterations: { spec: 1, plan: 1 } });
  });

  it('names every role that is missing', () => {
    expect(createObjectivePlaybook().parse({ ...factsOf([member('pm', 'pm')]), files: [] })).toMatchObject({
      ok: false,
      errors: { length: 3 },
    });
  });
});
