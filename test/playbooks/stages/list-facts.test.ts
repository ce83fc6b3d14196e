import { describe, expect, it } from 'vitest';
import {
  allNeedsOf,
  needsOf,
  stageOf,
  targetOf,
  taskIdOf,
  titleOf,
  wayBetween,
} from '../../../src/playbooks/stages/list-facts.ts';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';

function stage(id: string, more: Partial<Stage> = {}): Stage {
  return { id, by: ['builder'], brief: 'Do it.', makes: { code: true }, ...more };
}

const DIAMOND: StageList = {
  stages: [
    stage('PLAN'),
    stage('LEFT'),
    stage('RIGHT', { needs: ['PLAN'] }),
    stage('JOIN', { needs: ['LEFT', 'RIGHT'] }),
    stage('JUDGE', { judges: { rounds: 2, else: { redo: 'PLAN' } } }),
    stage('APART', { needs: [] }),
  ],
};

describe('facts of a list', () => {
  it.each([
    ['SPEC', 'spec', 'Spec'],
    ['SPEC_REVIEW', 'spec-review', 'Spec Review'],
    ['Build-it', 'build-it', 'Build It'],
  ])('%s has the task %s and the title %s', (id, task, title) => {
    expect([taskIdOf({ id }), titleOf({ id })]).toEqual([task, title]);
  });

  it('keeps a title that a stage has', () => {
    expect(titleOf({ id: 'SPEC', title: 'The spec' })).toBe('The spec');
  });

  it.each([
    ['PLAN', []],
    ['LEFT', ['PLAN']],
    ['JOIN', ['LEFT', 'RIGHT']],
    ['APART', []],
  ])('%s needs %j', (id, needs) => {
    const found = stageOf(DIAMOND, id);
    expect(found === undefined ? undefined : needsOf(DIAMOND, found)).toEqual(needs);
  });

  it('follows needs through others', () => {
    expect([...allNeedsOf(DIAMOND, 'JUDGE')].toSorted()).toEqual(['JOIN', 'LEFT', 'PLAN', 'RIGHT']);
  });

  it.each([
    ['PLAN', 'JUDGE', ['LEFT', 'RIGHT', 'JOIN', 'JUDGE']],
    ['LEFT', 'JUDGE', ['JOIN', 'JUDGE']],
    ['APART', 'JUDGE', ['JUDGE']],
  ])('from %s to %s', (from, to, way) => {
    expect(wayBetween(DIAMOND, from, to).map(({ id }) => id)).toEqual(way);
  });

  it('sends rejected work back to one stage', () => {
    expect(DIAMOND.stages.map(targetOf)).toEqual([undefined, undefined, undefined, undefined, 'PLAN', undefined]);
  });
});
