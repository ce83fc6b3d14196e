// @module-tag all
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { judgedBy, wayBetween } from '../../../src/playbooks/stages/list-facts.ts';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { roundsOf, stageTasks } from '../../../src/playbooks/stages/stage-records.ts';
import { createView } from '../../../src/rules/view.ts';
import { foldPlan, rejects, type Script } from '../simulator.ts';
import { APPROVED, entry, play, rejection, stage, viewsOf } from './support.ts';

type Kind = 'document' | 'code' | 'checks' | 'tasks' | 'each' | 'judge';

interface Drawn {
  readonly kind: Kind;
  readonly role: number;
  readonly needs: readonly number[];
  readonly flags: number;
}

const drawn: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Kind>('document', 'code', 'checks', 'tasks', 'each', 'judge'),
    role: fc.nat(3),
    needs: fc.array(fc.nat(7), { maxLength: 2 }),
    flags: fc.nat(15),
  }),
  { minLength: 1, maxLength: 7 },
);

const ROLES = ['ba', 'pm', 'builder', 'builder'];
const REVIEWED = new Set<Kind>(['document', 'code', 'each']);

/** A list of stages. The checks of a list would refuse some of them, such as two that plan. */
function listOf(all: readonly Drawn[], whenNotConverging: 'stop' | 'report'): StageList {
  const kinds = all.map(({ kind }, index) => kindAt(all, kind, index));
  const stages = all.map((one, index): Stage => {
    const kind = kinds[index] ?? 'code';
    const role = kind === 'each' ? 'builder' : (ROLES[one.role] ?? 'builder');
    const needs = [...new Set(one.needs.filter((need) => need < index))].map((need) => `S${need}`);
    const before = kinds.slice(0, index).lastIndexOf(kind === 'each' ? 'tasks' : 'code');
    const review =
      REVIEWED.has(kind) && one.flags % 2 === 1
        ? { review: { id: `R${index}`, by: ['reviewer', 'pm', 'ba'], rounds: 2 } }
        : {};
    const more: Partial<Stage> = {
      by: [role],
      ...(kind === 'each' || kind === 'judge'
        ? { needs: [...new Set([...needs, `S${before}`])] }
        : one.flags % 4 < 2
          ? {}
          : { needs }),
      ...(one.flags > 11 ? { onFail: 'skip' as const } : {}),
      ...review,
    };
    switch (kind) {
      case 'document':
        return stage(`S${index}`, { ...more, makes: { document: `d${index}.md` } });
      case 'checks':
        return stage(`S${index}`, { ...more, makes: { checks: ['npm test'] } });
      case 'tasks':
        return stage(`S${index}`, { ...more, makes: { answer: 'tasks' } });
      case 'each':
        return stage(`S${index}`, { ...more, each: { of: `S${before}` } });
      case 'judge': {
        const way = one.flags % 2 === 0 ? { fix: `S${before}` } : { redo: `S${before}` };
        return stage(`S${index}`, {
          ...more,
          by: ['reviewer', 'pm', 'ba'],
          makes: { answer: 'verdict' },
          judges: { rounds: 3, else: way },
        });
      }
      default:
        return stage(`S${index}`, more);
    }
  });
  return { stages, whenNotConverging };
}

function kindAt(all: readonly Drawn[], kind: Kind, index: number): Kind {
  const earlier = all.slice(0, index).map((one) => one.kind);
  if (kind === 'each') return earlier.includes('tasks') ? kind : 'code';
  return kind === 'judge' && !earlier.includes('code') ? 'document' : kind;
}

/** What happens follows from the numbers, in turn. */
function scriptOf(luck: readonly number[], list: StageList): Script {
  let at = 0;
  const next = (): number => luck[at++ % luck.length] ?? 0;
  const isJudge = new Set(list.stages.filter(({ judges }) => judges !== undefined).map(({ id }) => id.toLowerCase()));
  const plans = new Set(
    list.stages.filter(({ makes }) => 'answer' in makes && makes.answer === 'tasks').map(({ id }) => id.toLowerCase()),
  );
  const stem = (task: string): string => task.split('-')[0] ?? '';
  return {
    choose: (count) => next() % count,
    turn: ({ task, review }) => {
      if (review !== null) return next() % 4 === 0 ? rejects(`problem ${next()}`) : undefined;
      if (isJudge.has(stem(task))) return { output: next() % 2 === 0 ? rejection(`problem ${next() % 3}`) : APPROVED };
      if (!plans.has(stem(task))) return undefined;
      return {
        output:
          next() % 5 === 0
            ? { tasks: [] }
            : { tasks: [entry(`${stem(task)}x`), entry(`${stem(task)}y`, { needs: [`${stem(task)}x`] })] },
      };
    },
    evidence: (_task, { commands }) => {
      if (next() % 12 !== 0) return undefined;
      return commands.length > 0
        ? { commands: [{ run: 'npm test', passed: false, output: 'no' }] }
        : { commit: null, commits: 0 };
    },
  };
}

describe('any list, whatever happens', () => {
  test.prop(
    [
      drawn,
      fc.array(fc.nat(1000), { minLength: 5, maxLength: 60 }),
      fc.constantFrom('stop' as const, 'report' as const),
    ],
    { numRuns: 150 },
  )(
    'ends, keeps its caps, has nobody judge their own work, and is the same when it is folded again',
    (all, luck, whenNotConverging) => {
      const list = listOf(all, whenNotConverging);
      const played = play(list, { script: scriptOf(luck, list) });
      expect(played.end).toMatchObject({ next: 'finish' });
      expect(played.end).not.toMatchObject({
        why: expect.stringMatching(/in circles|cannot be planned|nothing can continue/),
      });
      const view = createView(played.board);
      for (const { id, judges } of list.stages) {
        const rejections = roundsOf(view, id).filter(({ approved }) => !approved);
        expect(rejections.length).toBeLessThanOrEqual(judges?.rounds ?? 0);
      }
      const placed = stageTasks(view);
      for (const { stage: id, task, as } of placed) {
        if (as !== 'judge') continue;
        const judge = list.stages.find((one) => one.id === id);
        const target = judge?.judges && ('fix' in judge.judges.else ? judge.judges.else.fix : judge.judges.else.redo);
        const judged = judge === undefined ? [] : judgedBy(list, judge).map((one) => one.id);
        const authors = placed.filter((one) => judged.includes(one.stage)).map((one) => view.task(one.task)?.doneBy);
        expect(authors).not.toContain(view.task(task)?.doneBy);
        expect(wayBetween(list, target ?? '', id).at(-1)?.id).toBe(id);
      }
      const views = viewsOf(list, played);
      if (played.board.finished?.outcome === 'done') {
        expect(views.filter(({ state }) => state !== 'done' && state !== 'skipped')).toEqual([]);
      }
      expect(viewsOf(list, { board: foldPlan(played.board.facts, played.entries) })).toEqual(views);
    },
  );
});
