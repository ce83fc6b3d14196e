// @module-tag all
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { createView } from '../../../src/rules/view.ts';
import { checkList } from '../../../src/playbooks/stages/check-list.ts';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { roundsOf, stageTasks } from '../../../src/playbooks/stages/stage-records.ts';
import { plainJson } from '../../../src/text/json.ts';
import { foldPlan, member, rejects, type Script } from '../simulator.ts';
import { APPROVED, entry, play, rejection, stage, TEAM, viewsOf } from './support.ts';

type Kind = 'answer' | 'code' | 'commit' | 'judge';
interface Drawn {
  readonly kind: Kind;
  readonly flags: number;
}

const NOTE: Stage['makes'] = { answer: { type: 'object', properties: {}, required: [], additionalProperties: false } };
const links: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({ kind: fc.constantFrom<Kind>('answer', 'code', 'commit', 'judge'), flags: fc.nat(15) }),
  { minLength: 1, maxLength: 5 },
);
const PEOPLE = [...TEAM, member('cut', 'cutter', { commits: false }), member('com', 'committer')];

/** A plan whose entries go through these stages one behind the other, and a stage that waits for all of them. */
function chainOf(all: readonly Drawn[]): StageList {
  const stages: Stage[] = [stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } })];
  for (const [index, { kind, flags }] of all.entries()) {
    const before = stages.at(-1);
    const code = stages.findLast(({ makes }) => 'code' in makes);
    const id = `S${index}`;
    const common: Partial<Stage> = {
      each: { of: before?.id ?? 'PLAN' },
      ...(flags > 11 ? { onFail: 'skip' as const } : {}),
    };
    if (kind === 'judge' && code !== undefined)
      stages.push(
        stage(id, {
          ...{ ...common, by: flags % 2 === 0 ? ['reviewer'] : ['reviewer', 'ba'], makes: { answer: 'verdict' } },
          judges: { rounds: 1 + (flags % 3), else: { redo: code.id } },
        }),
      );
    else if (kind === 'commit' && before !== undefined && 'code' in before.makes)
      stages.push(stage(id, { ...common, by: ['committer'], makes: { commit: true } }));
    else if (kind === 'code')
      stages.push(
        stage(id, {
          ...{ ...common, by: flags % 2 === 0 ? ['cutter', 'builder'] : ['builder'] },
          ...(flags % 4 < 2 ? { review: { id: `R${index}`, by: ['reviewer'], rounds: 2 } } : {}),
        }),
      );
    else stages.push(stage(id, { ...common, by: ['ba'], makes: NOTE }));
  }
  return { stages: [...stages, stage('END', { by: ['pm'], makes: NOTE })] };
}

/** What happens follows from the numbers, in turn. */
function scriptOf(luck: readonly number[]): Script {
  let at = 0;
  const next = (): number => luck[at++ % luck.length] ?? 0;
  return {
    choose: (count) => next() % count,
    turn: ({ task, review }, board) => {
      if (review !== null) return next() % 4 === 0 ? rejects(`problem ${next()}`) : undefined;
      const schema = board.tasks.get(task)?.task.output?.schema;
      if (schema === 'tasks')
        return { output: { tasks: [entry('x', { role: 'builder' }), entry('y', { needs: ['x'] }), entry('z')] } };
      if (schema === 'verdict') return { output: next() % 3 === 0 ? rejection(`problem ${next() % 3}`) : APPROVED };
      return schema === undefined ? undefined : { output: {} };
    },
    evidence: () => (next() % 12 === 0 ? { commit: null, commits: 0, changedPaths: [] } : undefined),
  };
}

describe('entries one behind the other, whatever happens', () => {
  test.prop([links, fc.array(fc.nat(1000), { minLength: 5, maxLength: 60 })], { numRuns: 150 })(
    'end, keep their caps, have nobody judge their own work, and are the same when they are folded again',
    (all, luck) => {
      const list = chainOf(all);
      fc.pre(checkList(plainJson(list), [...new Set(PEOPLE.map(({ role }) => role))]).length === 0);
      const played = play(list, { roster: PEOPLE, script: scriptOf(luck) });
      expect(played.end).toMatchObject({ next: 'finish' });
      expect(played.end.why).not.toMatch(/in circles|cannot be planned|cannot be corrected|nothing can continue/);
      const view = createView(played.board);
      for (const { id, judges } of list.stages)
        for (const rounds of Map.groupBy(roundsOf(view, id), ({ entry: of }) => of).values())
          expect(rounds.length).toBeLessThan(judges?.rounds ?? 1);
      const placed = stageTasks(view);
      for (const { entry: of, task, as } of placed) {
        if (as !== 'judge') continue;
        const made = placed.filter((one) => one.entry === of && one.as === 'work').map((one) => view.task(one.task));
        const code = made.filter((one) => one?.integrate === true && one.base === undefined);
        expect(code.map((one) => one?.doneBy)).not.toContain(view.task(task)?.doneBy ?? 'nobody');
      }
      const views = viewsOf(list, played);
      if (played.board.finished?.outcome === 'done') {
        expect(views.filter(({ state }) => state !== 'done' && state !== 'skipped')).toEqual([]);
      }
      expect(viewsOf(list, { board: foldPlan(played.board.facts, played.entries) })).toEqual(views);
    },
  );
});
